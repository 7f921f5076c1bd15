// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_tiff.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>

namespace cudascan::scan {
namespace {

constexpr int kLzw = 5, kDeflate = 8, kOldDeflate = 32946;
constexpr std::uint32_t kAdlerOfNothing = 1;

class PlainTiff {
 public:
  PlainTiff(const unsigned char *data, std::size_t size, CodecFacts &facts)
      : data_(data), size_(size), facts_(facts) {}

  std::string read() {
    if (size_ < 8) return kTruncated;
    is_big_ = data_[0] == 'M';
    if (number(2, 2) != 42) return "BigTIFF";
    std::string problem = read_tags(number(4, 4));
    if (problem.empty()) problem = check_page();
    return problem.empty() ? check_strips() : problem;
  }

 private:
  static constexpr const char *kTruncated = "truncated";
  enum Tag {
    kWidth = 256,
    kHeight = 257,
    kBits = 258,
    kCompression = 259,
    kPhotometric = 262,
    kFillOrder = 266,
    kOffsets = 273,
    kOrientation = 274,
    kSamples = 277,
    kRows = 278,
    kLengths = 279,
    kPlanes = 284,
    kPredictor = 317,
    kTileWidth = 322,
    kExtra = 338,
    kFormat = 339,
  };

  static bool is_used(std::uint32_t tag) {
    constexpr Tag kUsed[] = {kWidth,       kHeight,    kBits,      kCompression,
                             kPhotometric, kOffsets,   kFillOrder, kSamples,
                             kOrientation, kRows,      kLengths,   kPlanes,
                             kExtra,       kPredictor, kTileWidth, kFormat};
    return std::find(std::begin(kUsed), std::end(kUsed), tag) != std::end(kUsed);
  }
  std::uint32_t number(std::size_t at, int bytes) const {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | data_[at + (is_big_ ? i : bytes - 1 - i)];
    return value;
  }
  bool has(std::size_t at, std::size_t bytes) const { return at <= size_ && bytes <= size_ - at; }

  std::string read_tags(std::size_t at) {
    if (!has(at, 2)) return kTruncated;
    const std::size_t count = number(at, 2);
    if (!has(at + 2, 12 * count + 4)) return kTruncated;
    at += 2;
    for (std::size_t i = 0; i < count; ++i, at += 12) {
      const std::uint32_t type = number(at + 2, 2), values = number(at + 4, 4);
      constexpr std::uint32_t kShort = 3, kLong = 4;
      if ((type != kShort && type != kLong) || !is_used(number(at, 2))) continue;
      const int bytes = type == kShort ? 2 : 4;
      const std::uint64_t all = std::uint64_t{values} * bytes;
      const std::size_t from = all <= 4 ? at + 8 : number(at + 8, 4);
      if (!has(from, all)) return kTruncated;
      std::vector<std::uint32_t> &list = tags_[number(at, 2)];
      if (!list.empty()) return "a tag comes twice";
      for (std::uint32_t v = 0; v < values; ++v) list.push_back(number(from + v * bytes, bytes));
    }
    return number(at, 4) == 0 ? "" : "several pages";
  }

  /// The only value of a tag, or what it is without the tag; or -1 for values that differ.
  std::int64_t value(Tag tag, std::int64_t usual) const {
    const auto found = tags_.find(tag);
    if (found == tags_.end() || found->second.empty()) return usual;
    const auto &list = found->second;
    const auto is_first = [&](std::uint32_t other) { return other == list[0]; };
    return std::all_of(list.begin(), list.end(), is_first) ? list[0] : -1;
  }

  std::string check_page() {
    width_ = value(kWidth, 0);
    height_ = value(kHeight, 0);
    if (width_ < 1 || height_ < 1) return "no size";
    compression_ = value(kCompression, 1);
    if (compression_ == 1) return "not compressed";
    if (compression_ != kLzw && compression_ != kDeflate && compression_ != kOldDeflate)
      return "neither LZW nor Deflate";
    const std::int64_t bits = value(kBits, 1), samples = value(kSamples, 1),
                       photometric = value(kPhotometric, -1);
    if (bits != 8 && bits != 16) return "neither 8 nor 16 bits";
    if (is_big_ && bits == 16) return "16 bits with the highest byte first";
    constexpr std::int64_t kBlackIsZero = 1, kRgb = 2;
    if (!(samples == 1 && photometric == kBlackIsZero) && !(samples == 3 && photometric == kRgb))
      return "neither gray with 0 = black nor RGB";
    if (tags_.count(kExtra) != 0 || value(kFormat, 1) != 1 || value(kFillOrder, 1) != 1)
      return "unusual samples";
    if (value(kPlanes, 1) != 1 && samples != 1) return "separate planes";
    if (value(kOrientation, 1) != 1) return "not upright";
    if (tags_.count(kTileWidth) != 0) return "tiles";
    const std::int64_t predictor = value(kPredictor, 1);
    if (predictor != 1 && predictor != 2) return "an unusual predictor";
    row_bytes_ = static_cast<std::size_t>(width_ * samples * (bits / 8));
    facts_.samples = static_cast<int>(samples);
    facts_.differences = predictor == 2;
    return "";
  }

  std::string check_strips() {
    const std::int64_t rows = std::clamp<std::int64_t>(value(kRows, height_), 0, height_);
    if (rows == 0) return "no strips";
    facts_.rows_per_strip = static_cast<int>(rows);
    const std::vector<std::uint32_t> &offsets = tags_[kOffsets], &lengths = tags_[kLengths];
    const auto strips = static_cast<std::size_t>((height_ + rows - 1) / rows);
    if (offsets.size() != strips || lengths.size() != strips) return "strips are missing";
    for (std::size_t i = 0; i < strips; ++i) {
      constexpr std::uint32_t kLeast = 6;
      if (lengths[i] < kLeast || !has(offsets[i], lengths[i])) return kTruncated;
      const unsigned char *const strip = data_ + offsets[i];
      if (compression_ == kLzw) {
        const std::size_t here = std::min(rows, height_ - static_cast<std::int64_t>(i) * rows);
        if (!is_lzw(strip, lengths[i], here * row_bytes_)) return "unusual or damaged LZW";
      } else {
        const unsigned char *const sum = strip + lengths[i] - 4;
        facts_.sums.push_back(std::uint32_t{sum[0]} << 24 | sum[1] << 16 | sum[2] << 8 | sum[3]);
      }
    }
    return "";
  }

  /// Whether the codes of a strip make so many bytes. What libtiff reports is found: codes that are
  /// not in the table yet, and too few bytes.
  static bool is_lzw(const unsigned char *strip, std::size_t length, std::size_t bytes) {
    constexpr unsigned kClear = 256, kEnd = 257, kFirst = 258, kMost = 4096;
    if (strip[0] != kClear >> 1 || strip[1] >= 0x80) return false;  // 9 bits
    std::array<std::uint32_t, kMost> lengths;                       // of the strings
    std::fill_n(lengths.begin(), kClear, 1);
    std::uint32_t window = 0;
    unsigned have = 0, width = 9, next = kFirst, last = kClear;
    for (std::size_t at = 0, made = 0;;) {
      for (; have < width; have += 8) {
        if (at == length) return false;
        window = window << 8 | strip[at++];
      }
      have -= width;
      const unsigned code = window >> have & ((1U << width) - 1);
      if (code == kEnd) return made == bytes;
      if (code == kClear) {
        width = 9;
        next = kFirst;
      } else {
        if (last == kClear ? code > kClear : next == kMost) return false;
        if (last != kClear) lengths[next++] = lengths[last] + 1;
        if (code >= next) return false;
        if (next == 511 || next == 1023 || next == 2047) ++width;
        made += lengths[code];
        if (made > bytes) return false;
      }
      last = code;
    }
  }

  const unsigned char *data_;
  std::size_t size_;
  CodecFacts &facts_;
  bool is_big_ = false;
  std::map<std::uint32_t, std::vector<std::uint32_t>> tags_;
  std::int64_t width_ = 0, height_ = 0, compression_ = 0;
  std::size_t row_bytes_ = 0;
};

/// The differences of a row to the samples of the pixel before.
template <typename T>
void differences(const unsigned char *row, std::size_t samples, std::size_t step, T *to) {
  std::memcpy(to, row, samples * sizeof(T));
  for (std::size_t i = samples; i-- > step;) to[i] = static_cast<T>(to[i] - to[i - step]);
}

}  // namespace

std::string read_plain_tiff(const unsigned char *data, std::size_t size, CodecFacts &facts) {
  facts = {};
  return PlainTiff(data, size, facts).read();
}

bool sums_are_right(const CodecFacts &facts, const unsigned char *samples, std::ptrdiff_t stride,
                    int width, int height, int depth) {
  const std::size_t count = std::size_t{1} * width * facts.samples, bytes = count * (depth / 8);
  std::vector<std::uint16_t> row((bytes + 1) / 2);
  std::uint32_t sum = kAdlerOfNothing;
  for (int y = 0; y < height && !facts.sums.empty(); ++y) {
    const unsigned char *const from = samples + y * stride;
    const void *coded = from;
    if (facts.differences) {
      if (depth == 8)
        differences(from, count, facts.samples, reinterpret_cast<std::uint8_t *>(row.data()));
      else
        differences(from, count, facts.samples, row.data());
      coded = row.data();
    }
    sum = libdeflate_adler32(sum, coded, bytes);
    if ((y + 1) % facts.rows_per_strip != 0 && y + 1 < height) continue;
    if (sum != facts.sums[y / facts.rows_per_strip]) return false;
    sum = kAdlerOfNothing;
  }
  return true;
}

}  // namespace cudascan::scan
