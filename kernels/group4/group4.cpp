// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/group4.h"

#include <algorithm>

#include "kernels/base/refuse.h"
#include "kernels/group4/row.h"
#include "kernels/runlengths/rows.h"

namespace cudascan {
namespace group4 {
namespace {

constexpr int kMinRows = 256;  // fewer do not justify a thread

/// Bits one after the other, the first in the highest bit of the first byte.
class BitString {
 public:
  void put(Code code) { put(code.bits, code.length); }
  /// Appends another one.
  void append(const BitString &other) {
    for (const std::uint8_t byte : other.bytes_) put(byte, 8);
    if (other.count_ > 0) put(static_cast<unsigned>(other.pending_), other.count_);
  }
  std::vector<std::uint8_t> finish() {
    if (count_ > 0) put(0, 8 - count_);
    return std::move(bytes_);
  }

 private:
  void put(unsigned bits, int n) {
    pending_ = pending_ << n | bits;
    count_ += n;
    for (; count_ >= 8; count_ -= 8)
      bytes_.push_back(static_cast<std::uint8_t>(pending_ >> (count_ - 8)));
    pending_ &= (1U << count_) - 1;
  }

  std::vector<std::uint8_t> bytes_;
  std::uint64_t pending_ = 0;  // bits that are no byte yet
  int count_ = 0;
};

using Row = PackedRow<runlengths::Word>;

/// Codes the rows [begin, end).
void encode_rows(Plane<const std::uint8_t> in, int begin, int end, BitString &to) {
  const int words = runlengths::words_of(in.width);
  std::vector<runlengths::Word> rows[2];
  for (auto &row : rows) row.resize(words);
  const auto pack = [&](int y) {
    runlengths::Word *const packed = rows[y % 2].data();
    runlengths::pack_loops<std::uint8_t>().pack(in.row(y), in.width, 0, packed);
    return Row{packed, in.width};
  };
  Row above = begin > 0 ? pack(begin - 1) : Row{nullptr, in.width};
  for (int y = begin; y < end; ++y) {
    const Row row = pack(y);
    encode_row(row, above, kCodes, [&](Code code) { to.put(code); });
    above = row;
  }
}

}  // namespace
}  // namespace group4

std::vector<std::uint8_t> encode_group4(Cpu &cpu, Plane<const std::uint8_t> in) {
  using namespace group4;
  check_sizes(in.width, in.height, in.width, in.height);
  check_rows("input", in);
  const int parts = std::clamp(in.height / kMinRows, 1, cpu.threads());
  std::vector<BitString> codes(parts);
  const auto row_of = [&](int part) {
    return static_cast<int>(std::int64_t{in.height} * part / parts);
  };
  cpu.for_bands(parts, 1, [&](int begin, int end) {
    for (int i = begin; i < end; ++i) encode_rows(in, row_of(i), row_of(i + 1), codes[i]);
  });
  for (int i = 1; i < parts; ++i) codes[0].append(codes[i]);
  codes[0].put(kEndOfLine);
  codes[0].put(kEndOfLine);
  return codes[0].finish();
}

}  // namespace cudascan
