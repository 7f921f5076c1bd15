// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_jpeg2000.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace cudascan::scan {
namespace {

constexpr unsigned kStart = 0xff4f, kSize = 0xff51, kStyle = 0xff52, kTilePart = 0xff90,
                   kPacket = 0xff91, kPacketEnd = 0xff92, kData = 0xff93, kEnd = 0xffd9;
constexpr const char *kTruncated = "truncated";

class PlainJpeg2000 {
 public:
  PlainJpeg2000(const unsigned char *data, std::size_t size, CodecFacts &facts)
      : data_(data), end_(size), facts_(facts) {}

  std::string read() {
    if (end_ < 12) return kTruncated;
    if (number(0, 2) == kStart) return read_code(0);
    return read_boxes(0, end_, false);
  }

 private:
  /// Of 1 to 4 bytes, the highest first.
  std::uint32_t number(std::size_t at, int bytes) const {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | data_[at + i];
    return value;
  }
  bool has(std::size_t at, std::size_t bytes, std::size_t end) const {
    return at <= end && bytes <= end - at;
  }

  std::string read_boxes(std::size_t at, std::size_t end, bool in_header) {
    while (at < end) {
      if (!has(at, 8, end)) return kTruncated;
      std::uint64_t length = number(at, 4);
      std::size_t inner = at + 8;
      if (length == 1) {
        if (!has(at, 16, end)) return kTruncated;
        length = std::uint64_t{number(at + 8, 4)} << 32 | number(at + 12, 4);
        inner += 8;
      }
      if (length == 0) length = end - at;
      if (length < inner - at || length > end - at) return kTruncated;
      const std::string_view type(reinterpret_cast<const char *>(data_ + at + 4), 4);
      at += length;
      if (type == "jp2c" && !in_header) {
        end_ = at;
        return read_code(inner);
      }
      std::string problem;
      if (in_header)
        problem = read_header_box(type, inner, at);
      else if (type == "jp2h")
        problem = read_boxes(inner, at, true);
      if (!problem.empty()) return problem;
    }
    return in_header ? "" : "no code stream";
  }

  std::string read_header_box(std::string_view type, std::size_t at, std::size_t end) {
    if (type == "pclr" || type == "cmap") return "a palette";
    if (type == "jp2h" || type == "jp2c") return "boxes in boxes";
    if (type == "cdef" || type == "bpcc") return "unusual channels";
    if (type != "colr") return "";
    if (has_colours_) return "two kinds of colour";
    has_colours_ = true;
    constexpr int kEnumerated = 1, kProfile = 2;
    constexpr std::uint32_t kRgb = 16, kGray = 17;
    if (!has(at, 7, end)) return kTruncated;
    const int method = data_[at];
    if (method == kProfile) return "";
    const std::uint32_t colours = number(at + 3, 4);
    if (method != kEnumerated || (colours != kRgb && colours != kGray))
      return "colours other than gray and RGB";
    samples_stated_ = colours == kGray ? 1 : 3;
    return "";
  }

  /// The segment SIZ.
  std::string read_size(std::size_t at) {
    if (!has(at, 49, end_)) return kTruncated;
    constexpr unsigned kBaseline = 0x3fff;  // of the capabilities
    if ((number(at + 4, 2) & ~kBaseline) != 0) return "extensions of JPEG 2000";
    const std::uint32_t width = number(at + 6, 4), height = number(at + 10, 4),
                        tile_width = number(at + 22, 4), tile_height = number(at + 26, 4);
    for (const int offset : {14, 18, 30, 34})
      if (number(at + offset, 4) != 0) return "it does not begin at 0, 0";
    if (width == 0 || height == 0 || tile_width == 0 || tile_height == 0) return "no size";
    const std::uint32_t samples = number(at + 38, 2);
    if ((samples != 1 && samples != 3) || (samples_stated_ != 0 && samples != samples_stated_))
      return "colours other than gray and RGB";
    if (number(at + 2, 2) != 38 + 3 * samples || !has(at, 40 + 3 * samples, end_))
      return "a wrong length";
    const int depth = data_[at + 40] + 1;
    for (std::uint32_t i = 0; i < samples; ++i) {
      const unsigned char *const sample = data_ + at + 40 + 3 * i;
      if (sample[0] + 1 != depth || (depth != 8 && depth != 16)) return "neither 8 nor 16 bits";
      if (sample[1] != 1 || sample[2] != 1) return "subsampling";
    }
    facts_.samples = static_cast<int>(samples);
    const std::uint64_t across = (std::uint64_t{width} + tile_width - 1) / tile_width,
                        down = (std::uint64_t{height} + tile_height - 1) / tile_height;
    constexpr std::uint64_t kMostTiles = 65535;
    if (across * down > kMostTiles) return "too many tiles";
    tiles_.resize(across * down);
    return "";
  }

  /// Goes to a marker behind segments that have a length.
  std::string skip_segments(std::size_t &at, std::size_t end, unsigned to) {
    for (;;) {
      if (!has(at, 2, end)) return kTruncated;
      const unsigned marker = number(at, 2);
      if (marker == to) return "";
      if (marker < 0xff50 || marker >= kTilePart) return "an unknown marker";
      if (!has(at, 4, end)) return kTruncated;
      const std::size_t length = number(at + 2, 2);
      if (length < 2 || !has(at + 2, length, end)) return kTruncated;
      has_style_ = has_style_ || marker == kStyle;
      at += 2 + length;
    }
  }

  /// From SOC to EOC.
  std::string read_code(std::size_t at) {
    if (!has(at, 4, end_)) return kTruncated;
    if (number(at, 2) != kStart || number(at + 2, 2) != kSize) return "no code stream";
    std::string problem = read_size(at + 2);
    at += 2;
    if (problem.empty()) problem = skip_segments(at, end_, kTilePart);
    if (!problem.empty()) return problem;
    if (!has_style_) return "a marker is missing";
    while (has(at, 2, end_) && number(at, 2) == kTilePart) {
      problem = read_tile_part(at);
      if (!problem.empty()) return problem;
    }
    if (!has(at, 2, end_)) return kTruncated;
    if (number(at, 2) != kEnd) return "a marker is missing";
    const auto is_whole = [](const Tile &tile) {
      return tile.parts > 0 && (tile.stated == 0 || tile.parts == tile.stated);
    };
    return std::all_of(tiles_.begin(), tiles_.end(), is_whole) ? "" : "a tile is missing";
  }

  std::string read_tile_part(std::size_t &at) {
    constexpr std::size_t kHeader = 12;
    if (!has(at, kHeader, end_)) return kTruncated;
    if (number(at + 2, 2) != kHeader - 2) return "a wrong length";
    const std::size_t number_of_tile = number(at + 4, 2);
    std::size_t length = number(at + 6, 4);
    if (length == 0) length = end_ - at - 2;  // to EOC
    if (length < kHeader + 2 || !has(at, length, end_)) return kTruncated;
    if (number_of_tile >= tiles_.size()) return "a tile too many";
    Tile &tile = tiles_[number_of_tile];
    if (data_[at + 10] != tile.parts) return "a tile part is missing";
    ++tile.parts;
    if (data_[at + 11] != 0) tile.stated = data_[at + 11];
    const std::size_t end = at + length;
    at += kHeader;
    if (const std::string problem = skip_segments(at, end, kData); !problem.empty()) return problem;
    at += 2;
    // In code, no two bytes are a marker.
    while (const void *const found = std::memchr(data_ + at, 0xff, end - at)) {
      at = static_cast<std::size_t>(static_cast<const unsigned char *>(found) - data_);
      if (!has(at, 2, end)) return "a marker within the picture";
      const unsigned marker = number(at, 2);
      if (marker >= kTilePart && marker != kPacket && marker != kPacketEnd)
        return "a marker within the picture";
      at += marker == kPacket && has(at, 6, end) ? 6 : 2;
    }
    at = end;
    return "";
  }

  struct Tile {
    int parts = 0, stated = 0;
  };

  const unsigned char *data_;
  std::size_t end_;  ///< of the code stream
  CodecFacts &facts_;
  bool has_colours_ = false, has_style_ = false;
  std::uint32_t samples_stated_ = 0;
  std::vector<Tile> tiles_;
};

}  // namespace

std::string read_plain_jpeg2000(const unsigned char *data, std::size_t size, CodecFacts &facts) {
  facts = {};
  return PlainJpeg2000(data, size, facts).read();
}

}  // namespace cudascan::scan
