// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace cudascan::scan {

/// How the strip of a page is compressed; the numbers are those of TIFF.
enum class Packing { group4 = 4, jpeg = 7, deflate = 8 };

/// A page in a TIFF file of this program: one strip of CCITT group 4, of JPEG or of Deflate.
struct PageFile {
  std::uint32_t width = 0, height = 0;
  double x_dpi = 0, y_dpi = 0;
  std::uint64_t strip_bytes = 0;
  Packing packing = Packing::group4;
  int samples = 1, bits = 1;  ///< of a pixel; of a sample
  std::string profile;        ///< ICC, or ""
  bool has_next = false;      ///< whether there is an image under this one

  /// @param image  0, or 1 for the one under it
  /// @throws Error when it cannot be read or is another kind of file
  explicit PageFile(std::filesystem::path path, int image = 0);
  /// Reads the compressed page.
  /// @throws Error when it cannot be read
  std::string strip() const;
  /// Decodes it: eight pixels a byte, the leftmost in the highest bit; each row begins at a new
  /// byte; 1 = black.
  /// @throws Error when it cannot be read
  std::string unpack() const;

 private:
  std::filesystem::path path_;
  int image_;
};

}  // namespace cudascan::scan
