// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Pages of image files and PDFs: PNM and BMP are read here, the others by libvips.
#pragma once
#include <memory>
#include <mutex>
#include <string>

#include "decode.h"
#include "digest.h"
#include "header.h"
#include "image.h"
#include "reading.h"

namespace cudascan::scan {

/// A file, or standard input, with pages in it. The workers share it.
class Document {
 public:
  /// Reads the header, and all of standard input.
  /// @throws Error when it does not exist or is of no kind that can be read
  explicit Document(const std::string &name);

  const Header &header() const { return header_; }
  std::uint64_t size() const { return size_; }
  /// When the file was last written; 0 for standard input.
  long long modified_ns() const { return modified_ns_; }
  /// SHA-256 of all bytes; reads them the first time. Any thread. A PNG or JPEG file is kept until
  /// this thread reads another one: read_page() takes it from there.
  /// @throws Error when the file has changed
  std::string digest();

  /// Decodes a page (the first is 0) and turns it upright by its EXIF orientation. Colour becomes
  /// luma (Rec. 601), and is kept in `image.colour` if that is set; transparency becomes white; 16
  /// bits stay 16 bits. Any thread.
  /// @throws Error when it is damaged or not what the header says, when the file has changed, and
  ///         for pages of more than 32768 pixels a side
  ///
  /// With HowToRead::for_gpu(), pages of usual files are left in `image.coded` instead.
  Reading read_page(int page, const HowToRead &how, Image &image);

 private:
  std::string take_file(const Input &input, const HowToRead &how, Image &image);
  bool read_whole(Input &input, Digest *digest) const;
  Input open() const;
  /// @throws Error when it is not what it was at first
  Input open_again() const;

  const std::uint64_t id_;  ///< no other document has it
  std::string name_;
  std::shared_ptr<const std::string> bytes_;  ///< of standard input
  Header header_;
  std::uint64_t size_ = 0;
  long long modified_ns_ = 0;
  std::mutex mutex_;
  std::string digest_;
};

}  // namespace cudascan::scan
