// SPDX-License-Identifier: LGPL-2.1-or-later
#include "jbig2.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

namespace cudascan::scan {
namespace {

/// A row of table E.1 of ITU-T T.88: the estimated probability, and the states that follow.
struct Estimate {
  std::uint16_t qe;
  std::uint8_t after_mps, after_lps;
  bool flips;
};
constexpr Estimate kEstimates[] = {
    {0x5601, 1, 1, true},    {0x3401, 2, 6, false},   {0x1801, 3, 9, false},
    {0x0AC1, 4, 12, false},  {0x0521, 5, 29, false},  {0x0221, 38, 33, false},
    {0x5601, 7, 6, true},    {0x5401, 8, 14, false},  {0x4801, 9, 14, false},
    {0x3801, 10, 14, false}, {0x3001, 11, 17, false}, {0x2401, 12, 18, false},
    {0x1C01, 13, 20, false}, {0x1601, 29, 21, false}, {0x5601, 15, 14, true},
    {0x5401, 16, 14, false}, {0x5101, 17, 15, false}, {0x4801, 18, 16, false},
    {0x3801, 19, 17, false}, {0x3401, 20, 18, false}, {0x3001, 21, 19, false},
    {0x2801, 22, 19, false}, {0x2401, 23, 20, false}, {0x2201, 24, 21, false},
    {0x1C01, 25, 22, false}, {0x1801, 26, 23, false}, {0x1601, 27, 24, false},
    {0x1401, 28, 25, false}, {0x1201, 29, 26, false}, {0x1101, 30, 27, false},
    {0x0AC1, 31, 28, false}, {0x09C1, 32, 29, false}, {0x08A1, 33, 30, false},
    {0x0521, 34, 31, false}, {0x0441, 35, 32, false}, {0x02A1, 36, 33, false},
    {0x0221, 37, 34, false}, {0x0141, 38, 35, false}, {0x0111, 39, 36, false},
    {0x0085, 40, 37, false}, {0x0049, 41, 38, false}, {0x0025, 42, 39, false},
    {0x0015, 43, 40, false}, {0x0009, 44, 41, false}, {0x0005, 45, 42, false},
    {0x0001, 45, 43, false}, {0x5601, 46, 46, false}};

/// What a context expects: a row of the table, and the more probable bit.
struct State {
  std::uint8_t row = 0, mps = 0;
};

/// The arithmetic encoder of annex E.2 of ITU-T T.88, with its names of registers.
class Encoder {
 public:
  explicit Encoder(std::string &to) : to_(to) {}

  void put(State &state, int bit) {
    const Estimate &now = kEstimates[state.row];
    a_ -= now.qe;
    if (bit == state.mps) {
      if (a_ & 0x8000) {
        c_ += now.qe;
        return;
      }
      if (a_ < now.qe)
        a_ = now.qe;
      else
        c_ += now.qe;
      state.row = now.after_mps;
    } else {
      if (a_ < now.qe)
        c_ += now.qe;
      else
        a_ = now.qe;
      if (now.flips) state.mps ^= 1;
      state.row = now.after_lps;
    }
    renormalise();
  }

  /// The same as put() with 0, `count` times. While no bit comes out, each subtracts the same.
  void put_zeros(State &state, int count) {
    while (count > 0) {
      if (state.mps == 0) {
        const std::uint32_t qe = kEstimates[state.row].qe;
        const std::uint32_t n = std::min(static_cast<std::uint32_t>(count), (a_ - 0x8000) / qe);
        a_ -= n * qe;
        c_ += n * qe;
        count -= static_cast<int>(n);
        if (count == 0) return;
      }
      put(state, 0);
      --count;
    }
  }

  void finish() {
    const std::uint32_t limit = c_ + a_;
    c_ |= 0xFFFF;
    if (c_ >= limit) c_ -= 0x8000;
    for (int i = 0; i < 2; ++i) {
      c_ <<= ct_;
      byte_out();
    }
    keep_byte();
    if (b_ != 0xFF) to_ += '\xFF';
    to_ += '\xAC';
  }

 private:
  void renormalise() {
    do {
      a_ <<= 1;
      c_ <<= 1;
      if (--ct_ == 0) byte_out();
    } while (!(a_ & 0x8000));
  }
  /// A byte 0xFF is followed by one of only seven bits, into which a carry can go.
  void byte_out() {
    if (b_ != 0xFF && c_ >= 0x8000000) {
      ++b_;
      c_ &= 0x7FFFFFF;
    }
    keep_byte();
    const int shift = b_ == 0xFF ? 20 : 19;
    b_ = static_cast<int>(c_ >> shift);
    c_ &= (1U << shift) - 1;
    ct_ = 27 - shift;
  }
  /// The byte before the first one is no part of the data.
  void keep_byte() {
    if (has_byte_) to_ += static_cast<char>(b_);
    has_byte_ = true;
  }

  std::string &to_;
  std::uint32_t a_ = 0x8000, c_ = 0;
  int ct_ = 12, b_ = 0;
  bool has_byte_ = false;
};

/// The rows of a page, with a byte of white around each and rows of white above.
class Rows {
 public:
  Rows(const std::string &bits, int width)
      : bits_(bits), bytes_((width + 7) / 8), last_(0xFF << (8 * bytes_ - width) & 0xFF) {}
  int bytes() const { return bytes_; }
  void copy(int y, std::vector<std::uint8_t> &to) const {
    to.assign(bytes_ + 2, 0);
    if (y < 0) return;
    std::memcpy(to.data() + 1, bits_.data() + std::size_t{1} * y * bytes_, bytes_);
    to[bytes_] = static_cast<std::uint8_t>(to[bytes_] & last_);
  }

 private:
  const std::string &bits_;
  int bytes_, last_;
};

/// Three bytes of a row, the one before `i` first.
std::uint32_t around(const std::vector<std::uint8_t> &row, int i) {
  return static_cast<std::uint32_t>(row[i] << 16 | row[i + 1] << 8 | row[i + 2]);
}

/// The generic region of 6.2 of ITU-T T.88, with the adaptive pixels of template 0 in their nominal
/// places. A context then consists of 5 pixels of the row before the last one, 7 of the last one
/// and 4 of this one.
void put_region(const std::string &bits, int width, int height, std::string &to) {
  constexpr int kTypical = 0x9B25;  // figure 8: the context for "this row is like the last one"
  std::vector<State> contexts(1 << 16);
  Encoder encoder(to);
  const Rows rows(bits, width);
  std::vector<std::uint8_t> above, last, row;
  rows.copy(-1, above);
  rows.copy(-1, last);
  bool was_same = false;
  for (int y = 0; y < height; ++y) {
    rows.copy(y, row);
    const bool same = row == last;
    encoder.put(contexts[kTypical], same != was_same);
    was_same = same;
    for (int i = 0; !same && i < rows.bytes(); ++i) {
      int white = 0;
      while (i < rows.bytes() - 1 && (around(above, i) | around(last, i) | around(row, i)) == 0) {
        ++white;
        ++i;
      }
      encoder.put_zeros(contexts[0], 8 * white);
      const std::uint32_t a = around(above, i), b = around(last, i), c = around(row, i);
      for (int j = 0; j < std::min(8, width - 8 * i); ++j)
        encoder.put(contexts[(a >> (13 - j) & 31) << 11 | (b >> (12 - j) & 127) << 4 |
                             (c >> (16 - j) & 15)],
                    c >> (15 - j) & 1);
    }
    above.swap(last);
    last.swap(row);
  }
  encoder.finish();
}

/// Big-endian numbers.
void put_number(std::string &to, std::uint32_t value, int bytes) {
  while (--bytes >= 0) to += static_cast<char>(value >> (8 * bytes) & 255);
}

/// 7.2: number, type, no segments referred to, page 1, length.
void put_segment(std::string &to, int number, int type, const std::string &data) {
  put_number(to, number, 4);
  put_number(to, type, 1);
  put_number(to, 0, 1);
  put_number(to, 1, 1);
  put_number(to, static_cast<std::uint32_t>(data.size()), 4);
  to += data;
}

}  // namespace

std::string encode_jbig2(const std::string &bits, int width, int height) {
  std::string page, region, all;
  // 7.4.8: size, unknown resolution, lossless and white unless stated otherwise, no stripes.
  for (const int value : {width, height, 0, 0}) put_number(page, value, 4);
  put_number(page, 1, 1);
  put_number(page, 0, 2);
  // 7.4.1 and 7.4.6: size and place, OR; template 0 and typical prediction; the adaptive pixels.
  for (const int value : {width, height, 0, 0}) put_number(region, value, 4);
  put_number(region, 0, 1);
  put_number(region, 8, 1);
  for (const int offset : {3, -1, -3, -1, 2, -2, -2, -2}) region += static_cast<char>(offset);
  put_region(bits, width, height, region);
  constexpr int kPageInformation = 48, kImmediateLosslessGenericRegion = 39;
  put_segment(all, 0, kPageInformation, page);
  put_segment(all, 1, kImmediateLosslessGenericRegion, region);
  return all;
}

}  // namespace cudascan::scan
