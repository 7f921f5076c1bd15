// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "image.h"
#include "kernels/pages/jpeg_code.h"
#include "reading.h"

namespace cudascan::scan {

/// What is known of the code of a JPEG 2000 or TIFF page.
struct CodecFacts {
  int samples = 1;  ///< a pixel: gray, or red, green and blue
  /// Of a TIFF with Deflate: the checksum of each strip (Adler-32). It is made of its samples or,
  /// with `differences`, of their differences from left to right.
  std::vector<std::uint32_t> sums;
  int rows_per_strip = 0;
  bool differences = false;
};

/// A page in the form in which its file has it, so that a GPU can decode it, or the CPU if no GPU
/// does.
class CodedPage {
 public:
  using Decode = std::function<Reading(Image &)>;
  using Code = std::variant<pages::JpegCode, CodecFacts>;
  /// @param bytes   a whole file, and what `code` refers to
  /// @param decode  decodes it on the CPU, as Document::read_page() does
  CodedPage(std::shared_ptr<const Memory> bytes, std::size_t size, Code code, Decode decode)
      : bytes_(std::move(bytes)), size_(size), code_(std::move(code)), decode_(std::move(decode)) {}

  const unsigned char *data() const { return static_cast<unsigned char *>(bytes_->data()); }
  std::size_t size() const { return size_; }
  /// Of a JPEG, else nullptr.
  const pages::JpegCode *jpeg() const { return std::get_if<pages::JpegCode>(&code_); }
  /// Of a page in another format.
  const CodecFacts &facts() const { return std::get<CodecFacts>(code_); }
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
  Code code_;
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
