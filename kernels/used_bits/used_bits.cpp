// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/used_bits.h"

#include <atomic>
#include <bit>
#include <memory>

#include "kernels/base/refuse.h"
#include "kernels/base/simd.h"

namespace cudascan::usedbits {
/// The OR of n samples.
using UsedBitsLoop = unsigned (*)(const std::uint16_t *in, int n);
}  // namespace cudascan::usedbits

#define CUDASCAN_LOOPS "kernels/used_bits/rows.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan {
namespace usedbits {
namespace {

constexpr int kMinRows = 64;  // fewer do not justify a thread
constexpr unsigned kAll = 0xffff;
constexpr int kKey = 0;

/// The smallest usual number of bits with room for so many.
int usual(int bits) {
  constexpr int kLeast = 8;
  return bits <= kLeast ? kLeast : (bits + 1) / 2 * 2;
}

BitRange range_of(int count, bool high) {
  return {count, high && count < 16};
}

UsedBitsLoop used_in_row() {
  return CUDASCAN_FASTEST(kUsed);
}

}  // namespace
}  // namespace usedbits

void find_used_bits(Cpu &cpu, Plane<const std::uint16_t> in) {
  check_sizes(in.width, in.height, in.width, in.height);
  check_rows("input", in);
  const usedbits::UsedBitsLoop used_in = usedbits::used_in_row();
  std::atomic<unsigned> used = 0;
  cpu.for_bands(in.height, usedbits::kMinRows, [&](int begin, int end) {
    unsigned band = 0;
    for (int y = begin; y < end && band != usedbits::kAll; ++y)
      band |= used_in(in.row(y), in.width);
    used |= band;
  });
  cpu.kept(&usedbits::kKey) = std::make_shared<unsigned>(used);
}

unsigned used_bits(Cpu &cpu) {
  const auto used = std::static_pointer_cast<unsigned>(cpu.kept(&usedbits::kKey));
  return used ? *used : 0;
}

BitRange bit_range(const SignificantBits &wanted, unsigned used) {
  if (wanted.count != 0 && (wanted.count < 8 || wanted.count > 16))
    refuse("the number of significant bits, ", wanted.count,
           ", must be 8 to 16, or 0 to conclude it from the samples");
  used &= usedbits::kAll;
  const int top = std::bit_width(used), unused_low = used ? std::countr_zero(used) : 0;
  if (wanted.count == 0) {
    if (used == 0) return {};
    const int low = usedbits::usual(top), high = usedbits::usual(16 - unused_low);
    switch (wanted.alignment) {
      case BitAlignment::low:
        return usedbits::range_of(low, false);
      case BitAlignment::high:
        return usedbits::range_of(high, true);
      case BitAlignment::automatic:
        return high < 16 ? usedbits::range_of(high, true) : usedbits::range_of(low, false);
    }
  }
  bool high = wanted.alignment == BitAlignment::high;
  if (wanted.alignment == BitAlignment::automatic)
    high = used != 0 && (unused_low >= 16 - wanted.count || top > wanted.count);
  return usedbits::range_of(wanted.count, high);
}

}  // namespace cudascan
