// SPDX-License-Identifier: LGPL-2.1-or-later
// Scratch memory of the CPU executor: its guarantees, and that no operator expects it to be zeroed.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>

#include "kernels/linearopen.h"
#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using namespace cudascan::test;

bool is_filled(const void *memory, std::size_t bytes, unsigned char with) {
  const auto *begin = static_cast<const unsigned char *>(memory);
  return std::all_of(begin, begin + bytes, [&](unsigned char byte) { return byte == with; });
}

TEST(CpuScratch, IsAlignedToALineOfTheCache) {
  Cpu cpu;
  for (const std::size_t bytes : {1, 63, 64, 65, 4097, 1 << 20})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(cpu.scratch(bytes)) % 64, 0u) << bytes;
}

TEST(CpuScratch, IsKeptAndGrown) {
  Cpu cpu;
  void *const memory = cpu.scratch(5000);
  std::memset(memory, 0x5a, 5000);
  EXPECT_EQ(cpu.scratch(100), memory);
  EXPECT_EQ(cpu.scratch(5000), memory);
  EXPECT_TRUE(is_filled(memory, 5000, 0x5a));
  std::memset(cpu.scratch(1 << 20), 0xa5, 1 << 20);
  EXPECT_TRUE(is_filled(cpu.scratch(1 << 20), 1 << 20, 0xa5));
}

TEST(CpuScratch, SurvivesForget) {
  Cpu cpu;
  void *const memory = cpu.scratch(5000);
  std::memset(memory, 0x5a, 5000);
  cpu.forget();
  EXPECT_EQ(cpu.scratch(5000), memory);
  EXPECT_TRUE(is_filled(memory, 5000, 0x5a));
}

TEST(CpuScratch, IsNoHistory) {
  static const char one = 0, other = 0;
  Cpu cpu, another;
  void *const histories[] = {cpu.history(&one, 5000), cpu.history(&other, 5000)};
  std::memset(cpu.scratch(5000), 0x5a, 5000);
  std::memset(another.scratch(5000), 0xa5, 5000);
  for (const void *history : histories) EXPECT_TRUE(is_filled(history, 5000, 0));
  EXPECT_TRUE(is_filled(cpu.scratch(5000), 5000, 0x5a));
  std::memset(cpu.history(&one, 5000), 0xff, 5000);
  EXPECT_TRUE(is_filled(cpu.scratch(5000), 5000, 0x5a));
}

TEST(CpuScratch, IsEmptyAfterItCouldNotGrow) {
  Cpu cpu;
  cpu.scratch(4096);
  EXPECT_THROW(cpu.scratch(std::size_t{1} << 60), std::bad_alloc);  // exceeds the address space
  std::memset(cpu.scratch(4096), 1, 4096);
}

// ---- Operators ----------------------------------------------------------------------------------

/// Compares an operator that finds data in its scratch memory with one whose memory is new.
template <typename T, typename Params>
void expect_no_difference(const Params &params, T maximum, const char *what) {
  constexpr std::size_t kBytes = 4 << 20;
  for (const auto &[width, height] : {std::pair{1, 1}, {67, 83}, {200, 150}}) {
    const Image<T> in(make_content(Content::text, width, height, maximum), width, height, {},
                      maximum);
    Image<T> expected(width, height, {}, maximum);
    Cpu clean(2);
    run(clean, in.plane(), expected.plane(), params);
    for (const int fill : {0x5a, 0xff}) {
      Image<T> out(width, height, {}, maximum);
      Cpu dirty(2);
      std::memset(dirty.scratch(kBytes), fill, kBytes);
      run(dirty, in.plane(), out.plane(), params);
      EXPECT_TRUE(same(out.samples(), expected.samples(), width))
          << what << ", " << width << "x" << height << ", maximum " << +maximum << ", fill "
          << fill;
    }
  }
}

TEST(CpuScratch, IsNotReadBeforeItIsWrittenBySlidingWindows) {
  using Op = SwoFilterOperator;
  for (const Op op : {Op::median, Op::rank, Op::alpha_trimmed_mean, Op::directional_median,
                      Op::mode, Op::open, Op::close, Op::gradient, Op::top_hat, Op::hit_or_miss,
                      Op::thin, Op::thicken, Op::recursive_erode, Op::recursive_dilate})
    for (const char *shape : {"rectangle", "ellipse", "cross", "010;110;001"})
      for (const auto border : {SwoFilterBorder::clip, SwoFilterBorder::constant}) {
        SwoFilterParams p{.op = op, .window = 5, .shape = shape, .border = border};
        p.border_value = 9;
        const std::string what = "operator " + std::to_string(static_cast<int>(op)) + ", " + shape;
        expect_no_difference<std::uint8_t>(p, 0xff, what.c_str());
        expect_no_difference<std::uint16_t>(p, 0xffc0, what.c_str());
      }
}

TEST(CpuScratch, IsNotReadBeforeItIsWrittenByGeodesicOperators) {
  using Op = SwoFilterOperator;
  for (const Op op : {Op::geodesic_erode, Op::geodesic_dilate, Op::reconstruct, Op::h_dome,
                      Op::h_basin, Op::fill_holes, Op::clear_border})
    for (const int iterations : {0, 3})
      for (const int connectivity : {4, 8}) {
        const SwoFilterParams p{.op = op, .iterations = iterations, .connectivity = connectivity};
        const std::string what = "operator " + std::to_string(static_cast<int>(op));
        expect_no_difference<std::uint8_t>(p, 0xff, what.c_str());
        expect_no_difference<std::uint16_t>(p, 0xffff, what.c_str());
      }
}

TEST(CpuScratch, IsNotReadBeforeItIsWrittenByLinearOpenings) {
  for (const auto lines : {LinearOpenLines::partition, LinearOpenLines::invariant})
    for (const auto output : {LinearOpenOutput::filtered, LinearOpenOutput::orientation})
      for (const auto operation : {LinearOpenOperation::opening, LinearOpenOperation::black_hat})
        for (const auto &[angle, directions] : {std::pair{0, 1}, {90, 1}, {30, 1}, {0, 7}}) {
          if (output == LinearOpenOutput::orientation &&
              (directions == 1 || operation == LinearOpenOperation::black_hat))
            continue;
          const LinearOpenParams p{.operation = operation,
                                   .length = 21,
                                   .angle = static_cast<double>(angle),
                                   .directions = directions,
                                   .output = output,
                                   .lines = lines};
          expect_no_difference<std::uint8_t>(p, 0xff, "linear opening");
          expect_no_difference<std::uint16_t>(p, 0xffff, "linear opening");
          expect_no_difference<float>(p, 1.f, "linear opening");
        }
}

}  // namespace
}  // namespace cudascan
