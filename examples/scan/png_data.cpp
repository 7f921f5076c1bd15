// SPDX-License-Identifier: LGPL-2.1-or-later
#include "png_data.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <new>

#include "clones.h"
#include "common/error.h"

namespace cudascan::scan {
namespace {

enum Filter { kNone, kSub, kUp, kAverage, kPaeth, kFilters };

/// Bytes of a row and of its neighbours: to the left, above, and to the left of that.
struct Neighbours {
  const std::uint8_t *here, *left, *above, *corner;
};

/// How far bytes are from 0, as signed numbers.
CUDASCAN_CLONES std::uint64_t magnitude(const std::uint8_t *bytes, int count) {
  std::uint32_t sum = 0;
  for (int x = 0; x < count; ++x)
    sum += std::min<std::uint8_t>(bytes[x], static_cast<std::uint8_t>(-bytes[x]));
  return sum;
}

CUDASCAN_CLONES void subtract(const std::uint8_t *from, const std::uint8_t *what, int count,
                              std::uint8_t *to) {
  for (int x = 0; x < count; ++x) to[x] = static_cast<std::uint8_t>(from[x] - what[x]);
}

CUDASCAN_CLONES void subtract_average(const Neighbours &at, int count, std::uint8_t *to) {
  const auto [here, left, above, corner] = at;
  for (int x = 0; x < count; ++x)
    to[x] =
        static_cast<std::uint8_t>(here[x] - ((left[x] & above[x]) + ((left[x] ^ above[x]) >> 1)));
}

CUDASCAN_CLONES void subtract_paeth(const Neighbours &at, int count, std::uint8_t *to) {
  const auto [here, left, above, corner] = at;
  for (int x = 0; x < count; ++x) {
    const std::int16_t a = left[x], b = above[x], c = corner[x];
    const auto across = static_cast<std::int16_t>(b - c), down = static_cast<std::int16_t>(a - c);
    const auto both = static_cast<std::int16_t>(across + down);
    const auto to_left = static_cast<std::int16_t>(across < 0 ? -across : across);
    const auto to_above = static_cast<std::int16_t>(down < 0 ? -down : down);
    const auto to_corner = static_cast<std::int16_t>(both < 0 ? -both : both);
    const std::int16_t other = to_above <= to_corner ? b : c;
    const std::int16_t paeth = ((to_left <= to_above) & (to_left <= to_corner)) ? a : other;
    to[x] = static_cast<std::uint8_t>(here[x] - paeth);
  }
}

struct FreeCompressor {
  void operator()(libdeflate_compressor *compressor) const {
    libdeflate_free_compressor(compressor);
  }
};

std::string with_repetitions(std::string_view rows) {
  constexpr int kLevel = 6;
  thread_local const std::unique_ptr<libdeflate_compressor, FreeCompressor> compressor(
      libdeflate_alloc_compressor(kLevel));
  if (!compressor) throw std::bad_alloc();
  std::string stream(libdeflate_zlib_compress_bound(compressor.get(), rows.size()), '\0');
  stream.resize(libdeflate_zlib_compress(compressor.get(), rows.data(), rows.size(), stream.data(),
                                         stream.size()));
  return stream;
}

std::string with_runs(std::string_view rows) {
  constexpr int kLevel = 1, kWindow = 15, kMemory = 9;
  z_stream state{};
  if (deflateInit2(&state, kLevel, Z_DEFLATED, kWindow, kMemory, Z_RLE) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream *)> owner(&state, deflateEnd);
  std::string stream(deflateBound(&state, static_cast<uLong>(rows.size())), '\0');
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  state.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(rows.data()));
  state.next_out = reinterpret_cast<Bytef *>(stream.data());
  std::size_t left = rows.size(), room = stream.size();
  int result = Z_OK;
  while (result == Z_OK) {
    const auto in = static_cast<uInt>(std::min(left, kMost));
    const auto out = static_cast<uInt>(std::min(room, kMost));
    state.avail_in = in;
    state.avail_out = out;
    result = deflate(&state, in == left ? Z_FINISH : Z_NO_FLUSH);
    left -= in - state.avail_in;
    room -= out - state.avail_out;
  }
  if (result != Z_STREAM_END) throw Error("zlib cannot compress the page");
  stream.resize(stream.size() - room);
  return stream;
}

/// A few parts of a large page, all of a small one.
std::string sample_of(std::string_view rows) {
  constexpr std::size_t kPart = 256 << 10, kShare = 16;
  const std::size_t parts = std::max<std::size_t>(2, rows.size() / (kShare * kPart));
  if (rows.size() <= parts * kPart) return std::string(rows);
  std::string sample;
  for (std::size_t i = 0; i < parts; ++i)
    sample += rows.substr((2 * i + 1) * (rows.size() - kPart) / (2 * parts), kPart);
  return sample;
}

}  // namespace

PngRows::PngRows(std::size_t row_bytes, int pixel_bytes, int rows)
    : row_bytes_(row_bytes),
      pixel_bytes_(pixel_bytes),
      row_(kPad + row_bytes),
      above_(kPad + row_bytes),
      tried_(row_bytes) {
  filtered_.reserve((row_bytes + 1) * rows);
}

void PngRows::add() {
  const std::uint8_t *const here = row_.data() + kPad, *const above = above_.data() + kPad;
  const Neighbours at{here, here - pixel_bytes_, above, above - pixel_bytes_};
  const int count = static_cast<int>(row_bytes_);
  const std::size_t begin = filtered_.size();
  filtered_.resize(begin + 1 + row_bytes_);
  std::uint8_t *const best = reinterpret_cast<std::uint8_t *>(filtered_.data() + begin);
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  for (int filter = kNone; filter < kFilters; ++filter) {
    std::uint8_t *const tried = tried_.data();
    if (filter == kNone)
      std::memcpy(tried, here, row_bytes_);
    else if (filter == kSub || filter == kUp)
      subtract(here, filter == kSub ? at.left : at.above, count, tried);
    else if (filter == kAverage)
      subtract_average(at, count, tried);
    else
      subtract_paeth(at, count, tried);
    const std::uint64_t size = magnitude(tried, count);
    if (size >= least) continue;
    least = size;
    best[0] = static_cast<std::uint8_t>(filter);
    std::memcpy(best + 1, tried, row_bytes_);
  }
  std::swap(row_, above_);
}

std::string deflate_bits(std::string_view rows) {
  return with_repetitions(rows);
}

std::string deflate_levels(std::string_view rows) {
  const std::string sample = sample_of(rows);
  return with_runs(sample).size() < with_repetitions(sample).size() ? with_runs(rows)
                                                                    : with_repetitions(rows);
}

}  // namespace cudascan::scan
