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
    for (std::size_t i = 0; i < other.size_; ++i) put(other.bytes_[i], 8);
    if (other.count_ > 0) put(static_cast<unsigned>(other.pending_), other.count_);
  }
  std::vector<std::uint8_t> finish() {
    put(0, (8 - count_ % 8) % 8);
    for (; count_ > 0; count_ -= 8) store(pending_ >> (count_ - 8), 1);
    bytes_.resize(size_);
    return std::move(bytes_);
  }

 private:
  static constexpr int kAtOnce = 4;  // bytes

  void put(unsigned bits, int n) {
    pending_ = pending_ << n | bits;
    count_ += n;
    if (count_ < 8 * kAtOnce) return;
    count_ -= 8 * kAtOnce;
    store(pending_ >> count_, kAtOnce);
    pending_ &= (std::uint64_t{1} << count_) - 1;
  }
  /// Stores the lowest bytes of a number, the highest of them first.
  void store(std::uint64_t number, int n) {
    if (size_ + kAtOnce > bytes_.size()) bytes_.resize(2 * bytes_.size() + 4096);
    for (int i = n; i-- > 0; number >>= 8) bytes_[size_ + i] = static_cast<std::uint8_t>(number);
    size_ += n;
  }

  std::vector<std::uint8_t> bytes_;
  std::size_t size_ = 0;       // of them in use
  std::uint64_t pending_ = 0;  // bits that are not stored yet
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
