// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_png.h"

#include <libdeflate.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

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

struct Free {
  void operator()(libdeflate_decompressor *decompressor) const {
    libdeflate_free_decompressor(decompressor);
  }
};

/// A PNG file in memory. Chunks are those of W3C PNG, 11.
class File {
 public:
  File(char *bytes, std::size_t size) : bytes_(bytes), size_(size) {}

  /// Samples a pixel, or 0 if the file is not one that is decoded here.
  int samples(int width, int height) const {
    constexpr std::string_view kGray("\x08\0\0\0\0", 5), kRgb("\x08\x02\0\0\0", 5);
    if (size_ < kHeader || std::memcmp(bytes_ + 12, "IHDR", 4) != 0 ||
        big(bytes_ + 16) != static_cast<std::uint32_t>(width) ||
        big(bytes_ + 20) != static_cast<std::uint32_t>(height))
      return 0;
    const std::string_view format(bytes_ + 24, 5);
    return format == kGray ? 1 : format == kRgb ? 3 : 0;
  }

  /// Moves the compressed data together. @return empty if there is something else or damage
  std::string_view data() {
    char *const begin = bytes_ + kSignature;
    std::size_t length = 0;
    bool ended = false;
    for (std::size_t at = kSignature; at + kAround <= size_;) {
      const std::size_t size = big(bytes_ + at);
      if (size > size_ - at - kAround) return {};
      const std::string_view type(bytes_ + at + 4, 4);
      if (libdeflate_crc32(0, type.data(), size + 4) != big(bytes_ + at + 8 + size)) return {};
      if (type == "IEND") return {begin, length};
      if (type == "IDAT") {
        if (ended) return {};
        std::memmove(begin + length, bytes_ + at + 8, size);
        length += size;
      } else if (length > 0) {
        ended = true;
        if (type != "tEXt" && type != "tIME") return {};
      } else if (type == "tRNS" || type == "sBIT" || (type != "IHDR" && is_critical(type))) {
        return {};
      }
      at += kAround + size;
    }
    return {};
  }

 private:
  static constexpr std::size_t kSignature = 8, kHeader = 33;
  static constexpr std::size_t kAround = 12;  ///< length, type and check sum of a chunk
  static bool is_critical(std::string_view type) { return (type[0] & 0x20) == 0; }

  char *bytes_;
  std::size_t size_;
};

bool inflate(std::string_view data, std::uint8_t *to, std::size_t size) {
  // libdeflate does not check that distances are within a smaller window; libpng does.
  constexpr char kLargestWindow = 0x78;
  if (data.empty() || data[0] != kLargestWindow) return false;
  thread_local const std::unique_ptr<libdeflate_decompressor, Free> decompressor(
      libdeflate_alloc_decompressor());
  std::size_t used = 0, made = 0;
  return decompressor &&
         libdeflate_zlib_decompress_ex(decompressor.get(), data.data(), data.size(), to, size,
                                       &used, &made) == LIBDEFLATE_SUCCESS &&
         used == data.size() && made == size;
}

}  // namespace

bool decode_plain_png(const Input &input, Image &image) {
  thread_local Memory file_room, raw_room;  // is there for the next page
  if (image.depth != 8 || input.size() > kMostBytes) return false;
  const auto size = static_cast<std::size_t>(input.size());
  char *const bytes = static_cast<char *>(file_room.reserve(size));
  if (input.read(0, bytes, size) != size) return false;
  File file(bytes, size);
  const int samples = file.samples(image.width, image.height);
  const std::size_t row_bytes = std::size_t{1} * image.width * samples;
  const std::size_t all = (row_bytes + 1) * image.height;
  if (samples == 0 || all > kMostBytes) return false;
  auto *const raw = static_cast<std::uint8_t *>(raw_room.reserve(all));
  if (!inflate(file.data(), raw, all)) return false;
  Unfilter unfilter(static_cast<int>(row_bytes), samples);
  const Plane<std::uint8_t> to = image.plane<std::uint8_t>();
  std::vector<std::uint8_t> rgb(samples == 3 ? row_bytes * Unfilter::kRows : 0);
  for (int y = 0; y < to.height; y += Unfilter::kRows) {
    const int count = std::min(Unfilter::kRows, to.height - y);
    const std::uint8_t *const from = raw + (row_bytes + 1) * y;
    if (samples == 1) {
      if (!unfilter.next(from, count, to.row(y), to.stride)) return false;
      continue;
    }
    const auto stride = static_cast<std::ptrdiff_t>(row_bytes);
    if (!unfilter.next(from, count, rgb.data(), stride)) return false;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t *const row = rgb.data() + stride * i;
      luma_row(row, samples, to.width, to.row(y + i));
      keep_colour(image, row, samples, 0, y + i, to.width);
    }
  }
  return true;
}

}  // namespace cudascan::scan
