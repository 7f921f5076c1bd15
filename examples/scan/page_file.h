// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>

namespace cudascan::scan {

/// A page in a TIFF file that encode() has made: one strip of CCITT group 4.
struct PageFile {
  std::uint32_t width = 0, height = 0;
  double x_dpi = 0, y_dpi = 0;
  std::uint64_t strip_bytes = 0;

  /// @throws Error when it cannot be read or is another kind of file
  explicit PageFile(std::filesystem::path path);
  /// Reads the compressed page.
  /// @throws Error when it cannot be read
  std::string strip() const;
  /// Decodes it: eight pixels a byte, the leftmost in the highest bit; each row begins at a new
  /// byte; 1 = black.
  /// @throws Error when it cannot be read
  std::string bits() const;

 private:
  std::filesystem::path path_;
};

}  // namespace cudascan::scan
