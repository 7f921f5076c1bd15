// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <functional>
#include <memory>
#include <utility>

#include "image.h"
#include "kernels/pages/jpeg_code.h"
#include "reading.h"

namespace cudascan::scan {

/// A page in the form in which its file has it, so that a GPU can decode it, or the CPU if no GPU
/// does.
class CodedPage {
 public:
  using Decode = std::function<Reading(Image &)>;
  /// @param bytes   a whole JPEG file, and what `code` refers to
  /// @param decode  decodes it on the CPU, as Document::read_page() does
  CodedPage(std::shared_ptr<const Memory> bytes, std::size_t size, pages::JpegCode code,
            Decode decode)
      : bytes_(std::move(bytes)), size_(size), code_(std::move(code)), decode_(std::move(decode)) {}

  const unsigned char *data() const { return static_cast<unsigned char *>(bytes_->data()); }
  std::size_t size() const { return size_; }
  const pages::JpegCode &code() const { return code_; }
  /// Whether the CPU has decoded the page; then `reading()` is what happened.
  bool is_decoded() const { return is_decoded_; }
  const Reading &reading() const { return reading_; }
  /// @throws Error, as Document::read_page() does
  void decode(Image &page) {
    reading_ = decode_(page);
    is_decoded_ = true;
  }

 private:
  std::shared_ptr<const Memory> bytes_;
  std::size_t size_;
  pages::JpegCode code_;
  Decode decode_;
  bool is_decoded_ = false;
  Reading reading_;
};

/// Whether the pixels of the page are not in host memory yet.
inline bool is_coded(const Image &page) {
  return page.coded && !page.coded->is_decoded();
}

/// Decodes a page on the CPU if its pixels are not in host memory. What is known of its content
/// stays.
/// @throws Error, as Document::read_page() does
inline void need_pixels(Image &page) {
  if (!is_coded(page)) return;
  const std::shared_ptr<CodedPage> coded = page.coded;
  const Content content = page.content;
  coded->decode(page);
  page.coded = coded;
  page.content = content;
}

}  // namespace cudascan::scan
