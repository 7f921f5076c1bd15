// SPDX-License-Identifier: LGPL-2.1-or-later
// How cudascan-scan reads PNG files, compared with zlib and with the definition of the filters.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "examples/scan/plain_png.h"
#include "examples/scan/unfilter.h"

namespace cudascan::scan {
namespace {

using namespace std::string_literals;

std::mt19937 random_bits(11);

int below(int limit) {
  return static_cast<int>(random_bits() % static_cast<unsigned>(limit));
}

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}

const Bytef *bytes_of(const std::string &text) {
  return reinterpret_cast<const Bytef *>(text.data());
}

std::string chunk(const std::string &type, const std::string &data) {
  const std::string body = type + data;
  const auto sum = crc32(0, bytes_of(body), static_cast<uInt>(body.size()));
  return number(static_cast<std::uint32_t>(data.size())) + body +
         number(static_cast<std::uint32_t>(sum));
}

/// A PNG file, in parts that can be made wrong.
struct Png {
  int width = 0, height = 0, samples = 1;
  std::string rows = {};  ///< with their filter types
  std::string code = {};  ///< deflated rows
  std::string head = "\x78\x9c";
  std::string format = {};  ///< depth, colours, compression, filters, interlacing
  std::string before = {}, between = {}, after = {};

  std::string stream() const {
    const auto sum = adler32(1, bytes_of(rows), static_cast<uInt>(rows.size()));
    return head + code + number(static_cast<std::uint32_t>(sum));
  }
  /// @param most  the largest size of a part
  std::string file(const std::string &stream, int most = 1 << 20) const {
    std::string bytes = "\x89PNG\r\n\x1a\n" +
                        chunk("IHDR", number(static_cast<std::uint32_t>(width)) +
                                          number(static_cast<std::uint32_t>(height)) + format) +
                        before;
    for (std::size_t at = 0, size; at < stream.size(); at += size) {
      size = static_cast<std::size_t>(most < 100 ? below(most + 1) : most);
      bytes += chunk("IDAT", stream.substr(at, size));
      if (at == 0) bytes += between;
    }
    return bytes + after + chunk("IEND", "");
  }
  std::string file() const { return file(stream()); }
};

std::string deflated(const std::string &rows, int level, int strategy) {
  z_stream state{};
  EXPECT_EQ(deflateInit2(&state, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
  std::string code(deflateBound(&state, static_cast<uLong>(rows.size())), '\0');
  state.next_in = const_cast<Bytef *>(bytes_of(rows));
  state.avail_in = static_cast<uInt>(rows.size());
  state.next_out = reinterpret_cast<Bytef *>(code.data());
  state.avail_out = static_cast<uInt>(code.size());
  EXPECT_EQ(deflate(&state, Z_FINISH), Z_STREAM_END);
  code.resize(code.size() - state.avail_out);
  deflateEnd(&state);
  return code;
}

/// What zlib makes of deflated rows; "" if it refuses them, or something follows.
std::string inflated(const std::string &code, std::size_t size) {
  z_stream state{};
  EXPECT_EQ(inflateInit2(&state, -15), Z_OK);
  std::string rows(size + 1, '\0');
  state.next_in = const_cast<Bytef *>(bytes_of(code));
  state.avail_in = static_cast<uInt>(code.size());
  state.next_out = reinterpret_cast<Bytef *>(rows.data());
  state.avail_out = static_cast<uInt>(rows.size());
  const bool whole = inflate(&state, Z_FINISH) == Z_STREAM_END && state.avail_in == 0;
  rows.resize(rows.size() - state.avail_out);
  inflateEnd(&state);
  return whole ? rows : "";
}

/// Rows with random filters, whose bytes are small numbers as in photographs or any.
Png random_png(int width, int height, int samples) {
  Png png{.width = width, .height = height, .samples = samples};
  png.format = samples == 1 ? "\x08\0\0\0\0"s : "\x08\x02\0\0\0"s;
  const int filter = below(6), range = below(3) == 0 ? 255 : 1 + below(20);
  for (int y = 0; y < height; ++y) {
    png.rows += static_cast<char>(filter < 5 ? filter : below(5));
    for (int x = 0; x < width * samples; ++x)
      png.rows += static_cast<char>(below(range + 1) - range / 2);
  }
  png.code = deflated(png.rows, below(10), below(5));
  return png;
}

/// W3C PNG, 9.4.
int paeth(int left, int above, int corner) {
  const int guess = left + above - corner;
  const int to_left = std::abs(guess - left), to_above = std::abs(guess - above);
  const int to_corner = std::abs(guess - corner);
  if (to_left <= to_above && to_left <= to_corner) return left;
  return to_above <= to_corner ? above : corner;
}

/// W3C PNG, 9.2. @return the samples of all rows
std::vector<int> unfiltered(const Png &png) {
  const int bytes = png.width * png.samples;
  std::vector<int> all(static_cast<std::size_t>(bytes) * png.height);
  for (int y = 0; y < png.height; ++y) {
    const char *const row = &png.rows[static_cast<std::size_t>(y) * (bytes + 1)];
    int *const here = &all[static_cast<std::size_t>(y) * bytes];
    for (int x = 0; x < bytes; ++x) {
      const bool first = x < png.samples;
      const int left = first ? 0 : here[x - png.samples], above = y == 0 ? 0 : here[x - bytes];
      const int corner = first || y == 0 ? 0 : here[x - bytes - png.samples];
      const int type = row[0];
      const int guess = type == 1   ? left
                        : type == 2 ? above
                        : type == 3 ? (left + above) / 2
                        : type == 4 ? paeth(left, above, corner)
                                    : 0;
      here[x] = (row[1 + x] + guess) & 255;
    }
  }
  return all;
}

bool decode(const Png &png, const std::string &file, Image &image) {
  image.shape(png.width, png.height, 8);
  return decode_plain_png(file, image);
}

bool accepts(const Png &png, const std::string &file) {
  Image image;
  return decode(png, file, image);
}

void check_pixels(const Png &png, const std::string &file) {
  Image image;
  ASSERT_TRUE(decode(png, file, image));
  const std::vector<int> samples = unfiltered(png);
  std::vector<std::uint8_t> row(png.width);
  const int *s = samples.data();
  for (int y = 0; y < png.height; ++y) {
    for (std::uint8_t &pixel : row) {
      // Rec. 601
      pixel = static_cast<std::uint8_t>(
          png.samples == 1 ? s[0] : (19595 * s[0] + 38470 * s[1] + 7471 * s[2] + 32768) >> 16);
      s += png.samples;
    }
    ASSERT_EQ(std::memcmp(row.data(), image.plane<const std::uint8_t>().row(y), row.size()), 0)
        << y;
  }
}

TEST(ScanPng, PixelsOfAllFiltersAndSizes) {
  for (int i = 0; i < 150; ++i) {
    const int samples = below(2) == 0 ? 1 : 3;
    const int width = 1 + below(i % 3 == 0 ? 20 : 400), height = 1 + below(i % 5 == 0 ? 200 : 70);
    const Png png = random_png(width, height, samples);
    SCOPED_TRACE(std::to_string(width) + "x" + std::to_string(height));
    check_pixels(png, png.file(png.stream(), i % 2 == 0 ? 1 + below(50) : 1 << 16));
  }
}

TEST(ScanPng, LargePages) {
  for (const int samples : {1, 3}) {
    const Png png = random_png(2003, 701, samples);
    check_pixels(png, png.file(png.stream(), 1 << 13));
  }
}

/// Paeth's filter, with each byte to the left and above, and a fifth of the corners.
TEST(ScanPng, EveryNeighbour) {
  constexpr int kCorners = 52, kWidth = 2 * kCorners;
  for (int above = 0; above < 256; ++above) {
    // Of each pair of rows, the upper one has the corner and what is above in turn, and every
    // second byte of the lower one is to the left.
    Png png{.width = kWidth, .height = 512};
    std::vector<std::uint8_t> undone(std::size_t{1} * kWidth * png.height);
    for (int left = 0; left < 256; ++left) {
      int last = 0, corner = 0;
      png.rows += '\0';
      for (int x = 0; x < kWidth; ++x) png.rows += static_cast<char>(x % 2 ? above : x / 2 * 5);
      png.rows += '\4';
      for (int x = 0; x < kWidth; ++x) {
        const int up = x % 2 ? above : x / 2 * 5, guess = paeth(last, up, corner);
        const int byte = x % 2 ? 7 * x : left - guess;
        png.rows += static_cast<char>(byte);
        last = (byte + guess) & 255;
        corner = up;
      }
    }
    Unfilter unfilter(kWidth, 1);
    for (int y = 0; y < png.height; y += Unfilter::kRows) {
      const char *const rows = &png.rows[std::size_t{1} * y * (kWidth + 1)];
      ASSERT_TRUE(unfilter.next(reinterpret_cast<const std::uint8_t *>(rows), Unfilter::kRows,
                                &undone[std::size_t{1} * y * kWidth], kWidth));
    }
    const std::vector<int> samples = unfiltered(png);
    ASSERT_TRUE(std::equal(samples.begin(), samples.end(), undone.begin())) << above;
  }
}

TEST(ScanPng, OtherFormatsAreLeftToLibpng) {
  const Png good = random_png(21, 33, 1);
  EXPECT_TRUE(accepts(good, good.file()));
  for (const std::string &format : {"\x04\0\0\0\0"s, "\x10\0\0\0\0"s, "\x08\3\0\0\0"s,
                                    "\x08\4\0\0\0"s, "\x08\6\0\0\0"s, "\x08\0\0\0\1"s}) {
    Png png = good;
    png.format = format;
    EXPECT_FALSE(accepts(png, png.file()));
  }
  for (const char *type : {"tRNS", "sBIT", "PLTE"}) {
    Png png = good;
    png.before = chunk(type, "\0\0"s);
    EXPECT_FALSE(accepts(png, png.file())) << type;
  }
  Png text = good;
  text.before = text.after = chunk("tEXt", "a\0b"s);
  EXPECT_TRUE(accepts(text, text.file()));
  text.after = chunk("eXIf", "MM");
  EXPECT_FALSE(accepts(text, text.file()));
  Png gap = good;
  gap.between = chunk("tEXt", "a\0b"s);
  EXPECT_FALSE(accepts(gap, gap.file(gap.stream(), 200)));
  Png other = good;
  other.width = 22;
  EXPECT_FALSE(accepts(other, good.file()));
  EXPECT_FALSE(accepts(good, ""));
  EXPECT_FALSE(decode_plain_png({}, *std::make_unique<Image>()));
}

TEST(ScanPng, TruncatedFiles) {
  const Png png = random_png(40, 40, 1);
  const std::string file = png.file(png.stream(), 90), stream = png.stream();
  EXPECT_TRUE(accepts(png, file));
  for (std::size_t size = 0; size < file.size(); ++size)
    ASSERT_FALSE(accepts(png, file.substr(0, size))) << size;
  for (std::size_t size = 0; size < stream.size(); ++size)
    for (const int most : {3, 1 << 16})
      ASSERT_FALSE(accepts(png, png.file(stream.substr(0, size), most))) << size;
}

TEST(ScanPng, WhatFollowsTheStream) {
  for (int i = 0; i < 20; ++i) {
    const Png png = random_png(1 + below(50), 1 + below(50), 1);
    for (int more = 1; more < 20; ++more)
      for (const int most : {5, 1 << 16})
        ASSERT_FALSE(accepts(png, png.file(png.stream() + std::string(more, '\0'), most))) << more;
  }
}

TEST(ScanPng, MoreOrFewerRows) {
  for (const int change : {-1, 1}) {
    const Png png = random_png(40, 40, 1);
    Png other = png;
    other.height += change;
    EXPECT_FALSE(accepts(other, other.file()));
    other = png;
    other.rows.resize(other.rows.size() + change);
    other.code = deflated(other.rows, 6, Z_DEFAULT_STRATEGY);
    EXPECT_FALSE(accepts(other, other.file()));
  }
}

TEST(ScanPng, HeadsOfStreams) {
  const Png good = random_png(40, 40, 1);
  for (const int first : {0x08, 0x68, 0x70, 0x77, 0x78, 0x79, 0x88, 0xf8})
    for (int second = 0; second < 256; ++second) {
      Png png = good;
      png.head = {static_cast<char>(first), static_cast<char>(second)};
      const bool has_dictionary = (second & 0x20) != 0;
      const bool is_right = first == 0x78 && (256 * first + second) % 31 == 0 && !has_dictionary;
      ASSERT_EQ(accepts(png, png.file()), is_right) << first << ", " << second;
    }
}

TEST(ScanPng, FilterTypesThatDoNotExist) {
  for (const int row : {0, 31, 32, 39})
    for (const int type : {5, 255}) {
      Png png = random_png(40, 40, 1);
      png.rows[static_cast<std::size_t>(41) * row] = static_cast<char>(type);
      png.code = deflated(png.rows, 6, Z_DEFAULT_STRATEGY);
      EXPECT_FALSE(accepts(png, png.file()));
    }
}

TEST(ScanPng, WrongCheckSums) {
  const Png png = random_png(40, 40, 1);
  std::string stream = png.stream();
  for (std::size_t i = stream.size() - 4; i < stream.size(); ++i) {
    stream[i] ^= 4;
    EXPECT_FALSE(accepts(png, png.file(stream)));
    stream[i] ^= 4;
  }
  EXPECT_TRUE(accepts(png, png.file(stream)));
  const std::string file = png.file();
  for (std::size_t i = 8; i < file.size(); ++i) {  // lengths, types, data and sums of all chunks
    std::string damaged = file;
    damaged[i] ^= static_cast<char>(1 << below(8));
    ASSERT_FALSE(accepts(png, damaged)) << i;
  }
}

/// Bits of the stream are wrong, and the sums of the chunks are right.
TEST(ScanPng, DamagedStreams) {
  int refused = 0, good = 0;
  for (int i = 0; i < 2000; ++i) {
    Png png = random_png(1 + below(40), 1 + below(40), 1);
    const int head = std::min(60, static_cast<int>(png.code.size()));
    for (int flips = 1 + below(3); flips > 0; --flips) {
      const int at = below(2) == 0 ? below(head) : below(static_cast<int>(png.code.size()));
      png.code[static_cast<std::size_t>(at)] ^= static_cast<char>(1 << below(8));
    }
    const std::string rows = inflated(png.code, png.rows.size());
    const int most = 1 + below(100);
    // Codes that zlib does not like may still be those of the same bytes, as their sum shows.
    if (rows != png.rows && accepts(png, png.file(png.stream(), most)))
      check_pixels(png, png.file(png.stream(), most));
    else if (rows != png.rows)
      ++refused;
    if (rows.size() != png.rows.size()) continue;
    png.rows = rows;
    bool types = true;
    for (int y = 0; y < png.height; ++y)
      types &= static_cast<unsigned char>(rows[static_cast<std::size_t>(y) * (png.width + 1)]) < 5;
    if (types)
      check_pixels(png, png.file(png.stream(), most));
    else
      ASSERT_FALSE(accepts(png, png.file(png.stream(), most)));
    if (HasFatalFailure()) return;
    ++good;
  }
  EXPECT_GT(refused, 400);
  EXPECT_GT(good, 400);
}

}  // namespace
}  // namespace cudascan::scan
