// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_png.h"

#include <libdeflate.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "inflate.h"
#include "levels.h"
#include "luma.h"
#include "unfilter.h"

namespace cudascan::scan {
namespace {

/// Larger pages would need too much memory: libpng decodes a row at a time.
constexpr std::size_t kMostBytes = std::size_t{256} << 20;

std::uint32_t big(const char *bytes) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// A PNG file in memory. Chunks are those of W3C PNG, 11.
class File {
 public:
  explicit File(std::string_view bytes) : bytes_(bytes) {}

  /// Samples a pixel, or 0 if the file is not one that is decoded here.
  int samples(int width, int height) const {
    constexpr std::string_view kGray("\x08\0\0\0\0", 5), kRgb("\x08\x02\0\0\0", 5);
    if (bytes_.size() < kHeader || bytes_.substr(12, 4) != "IHDR" ||
        big(bytes_.data() + 16) != static_cast<std::uint32_t>(width) ||
        big(bytes_.data() + 20) != static_cast<std::uint32_t>(height))
      return 0;
    const std::string_view format = bytes_.substr(24, 5);
    return format == kGray ? 1 : format == kRgb ? 3 : 0;
  }

  /// Finds the compressed data, and checks the sums of all chunks.
  /// @param parts  the data of IDAT chunks, but for empty ones
  /// @return false if there is something else or damage
  bool find_data(std::vector<std::string_view> &parts) const {
    parts.clear();
    bool begun = false, ended = false;
    for (std::size_t at = kSignature; at + kAround <= bytes_.size();) {
      const std::size_t size = big(bytes_.data() + at);
      if (size > bytes_.size() - at - kAround) return false;
      const std::string_view type = bytes_.substr(at + 4, 4), data = bytes_.substr(at + 8, size);
      if (libdeflate_crc32(0, type.data(), size + 4) != big(data.data() + size)) return false;
      if (type == "IEND") return !parts.empty();
      if (type == "IDAT") {
        if (ended) return false;
        begun = true;
        if (size > 0) parts.push_back(data);
      } else if (begun) {
        ended = true;
        if (type != "tEXt" && type != "tIME") return false;
      } else if (type == "tRNS" || type == "sBIT" || (type != "IHDR" && is_critical(type))) {
        return false;
      }
      at += kAround + size;
    }
    return false;
  }

 private:
  static constexpr std::size_t kSignature = 8, kHeader = 33;
  static constexpr std::size_t kAround = 12;  ///< length, type and check sum of a chunk
  static bool is_critical(std::string_view type) { return (type[0] & 0x20) == 0; }

  std::string_view bytes_;
};

/// Undoes the filters of rows, and puts the pixels in their places.
class ToImage {
 public:
  ToImage(int samples, Image &image)
      : image_(image),
        samples_(samples),
        row_bytes_(std::size_t{1} * image.width * samples),
        unfilter_(static_cast<int>(row_bytes_), samples),
        rgb_(samples == 3 ? row_bytes_ * Unfilter::kRows : 0) {}

  /// @param y  the first row; they are 1 to Unfilter::kRows
  /// @return false for a filter type that does not exist
  bool put(const std::uint8_t *filtered, int y, int count) {
    const Plane<std::uint8_t> to = image_.plane<std::uint8_t>();
    if (samples_ == 1) return unfilter_.next(filtered, count, to.row(y), to.stride);
    const auto stride = static_cast<std::ptrdiff_t>(row_bytes_);
    if (!unfilter_.next(filtered, count, rgb_.data(), stride)) return false;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t *const row = rgb_.data() + stride * i;
      luma_row(row, samples_, to.width, to.row(y + i));
      keep_colour(image_, row, samples_, 0, y + i, to.width);
    }
    return true;
  }

 private:
  Image &image_;
  int samples_;
  std::size_t row_bytes_;
  Unfilter unfilter_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace

bool decode_plain_png(std::string_view file, Image &image) {
  thread_local Inflate inflate;  // it and the next are there for the next page
  thread_local std::vector<std::string_view> parts;
  // Distances are not checked to be within a smaller window; libpng does that.
  constexpr char kLargestWindow = 0x78;
  // Rows that are decompressed together: they are still in the cache when they are undone.
  constexpr std::size_t kPiece = 256 << 10;
  if (image.depth != 8 || file.size() > kMostBytes) return false;
  const File png(file);
  const int samples = png.samples(image.width, image.height);
  const std::size_t filtered_bytes = std::size_t{1} * image.width * samples + 1;
  const std::size_t all = filtered_bytes * image.height;
  if (samples == 0 || all > kMostBytes) return false;
  if (!png.find_data(parts) || parts[0][0] != kLargestWindow) return false;
  inflate.start(parts, all);
  ToImage to(samples, image);
  const int most =
      std::max(1, static_cast<int>(kPiece / (filtered_bytes * Unfilter::kRows))) * Unfilter::kRows;
  for (int y = 0; y < image.height;) {
    const int end = std::min(y + most, image.height);
    const std::uint8_t *filtered = inflate.next(filtered_bytes * (end - y));
    if (filtered == nullptr) return false;
    for (; y < end; y += Unfilter::kRows, filtered += filtered_bytes * Unfilter::kRows)
      if (!to.put(filtered, y, std::min(Unfilter::kRows, end - y))) return false;
  }
  return inflate.ended();
}

}  // namespace cudascan::scan
