// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/used_bits.h"

#include <tuple>

#include "tests/kernels/operator_test.h"

namespace cudascan {

static std::ostream &operator<<(std::ostream &to, const BitRange &range) {
  return to << range.count << (range.high ? " high" : " low");
}

namespace {

using test::Image;
using Samples = std::vector<std::uint16_t>;

unsigned used_on_cpu(const Image<std::uint16_t> &in, int threads = 1) {
  Cpu cpu(threads);
  find_used_bits(cpu, in.plane());
  return used_bits(cpu);
}

/// Images in which every sample decides: all samples are 0 but one.
template <typename Used>
void expect_every_sample_to_count(Used &&used) {
  for (const auto &[width, height] :
       {std::pair{1, 1}, std::pair{7, 3}, std::pair{64, 5}, std::pair{301, 70}, std::pair{8, 200}})
    for (const test::Layout layout :
         {test::Layout{.unit = 32}, test::Layout{.padding = 6, .offset = 2},
          test::Layout{.flush = true}}) {
      Samples samples(static_cast<std::size_t>(width) * height, 0);
      const std::size_t n = samples.size();
      std::mt19937 random(static_cast<unsigned>(n));
      for (const std::size_t at : {std::size_t{0}, n - 1, n / 2, std::size_t{random()} % n}) {
        const unsigned bit = 1U << random() % 16;
        samples[at] = static_cast<std::uint16_t>(bit);
        // What surrounds the samples has all bits.
        const Image<std::uint16_t> in(samples, width, height, layout, 0xffff, 0xff);
        ASSERT_EQ(used(in), bit) << width << "x" << height << ", sample " << at;
        samples[at] = 0;
      }
      ASSERT_EQ(used(Image<std::uint16_t>(samples, width, height, layout, 0xffff, 0xff)), 0U);
    }
}

/// The bits of all samples.
template <typename Used>
void expect_all_bits(Used &&used) {
  std::mt19937 random(4);
  for (const unsigned mask : {0xfffU, 0xfff0U, 0x8001U, 0xffffU, 0x100U}) {
    Samples samples(513 * 90);
    unsigned any = 0;
    for (auto &sample : samples) any |= sample = static_cast<std::uint16_t>(random() & mask);
    EXPECT_EQ(used(Image<std::uint16_t>(samples, 513, 90)), any);
    EXPECT_EQ(any, mask);
  }
}

TEST(UsedBits, EverySampleCounts) {
  expect_every_sample_to_count([](const auto &in) { return used_on_cpu(in); });
}

TEST(UsedBits, AllSamples) {
  for (const int threads : {1, 3})
    expect_all_bits([&](const auto &in) { return used_on_cpu(in, threads); });
}

TEST(UsedBits, ThereAreNoneBeforeTheFirstPlane) {
  Cpu cpu(1);
  EXPECT_EQ(used_bits(cpu), 0U);
  find_used_bits(cpu, Image<std::uint16_t>({9, 4}, 2, 1).plane());
  EXPECT_EQ(used_bits(cpu), 13U);
  EXPECT_EQ(used_bits(cpu), 13U) << "it can be read twice";
  find_used_bits(cpu, Image<std::uint16_t>({16}, 1, 1).plane());
  EXPECT_EQ(used_bits(cpu), 16U);
}

TEST(UsedBits, WrongPlanes) {
  Cpu cpu(1);
  const Image<std::uint16_t> in(4, 4);
  Plane<const std::uint16_t> plane = in.plane();
  plane.width = 0;
  EXPECT_THROW(find_used_bits(cpu, plane), BadSetting);
  plane.width = 4, plane.stride = 3;
  EXPECT_THROW(find_used_bits(cpu, plane), BadSetting);
}

TEST(UsedBits, RangeOfUnknownSamples) {
  constexpr auto kLow = BitAlignment::low, kHigh = BitAlignment::high,
                 kAny = BitAlignment::automatic;
  const std::tuple<BitAlignment, unsigned, BitRange> cases[] = {// nothing is known
                                                                {kAny, 0, {16, false}},
                                                                {kLow, 0, {16, false}},
                                                                {kHigh, 0, {16, false}},
                                                                // cameras
                                                                {kAny, 0x0ff, {8, false}},
                                                                {kAny, 0x3ff, {10, false}},
                                                                {kAny, 0xfff, {12, false}},
                                                                {kAny, 0x3fff, {14, false}},
                                                                {kAny, 0xffff, {16, false}},
                                                                {kAny, 0xff00, {8, true}},
                                                                {kAny, 0xffc0, {10, true}},
                                                                {kAny, 0xfff0, {12, true}},
                                                                {kAny, 0xfffc, {14, true}},
                                                                // their dark pictures
                                                                {kAny, 0x1ff, {10, false}},
                                                                {kAny, 0x7ff, {12, false}},
                                                                {kAny, 0x7f, {8, false}},
                                                                {kAny, 0x1, {8, false}},
                                                                {kAny, 0x0ff0, {12, true}},
                                                                {kAny, 0x7fe0, {12, true}},
                                                                {kAny, 0x00c0, {10, true}},
                                                                // one bit is not enough to tell
                                                                {kAny, 0x7fff, {16, false}},
                                                                {kAny, 0xfffe, {16, false}},
                                                                {kAny, 0x8001, {16, false}},
                                                                // the alignment is known
                                                                {kLow, 0xff0, {12, false}},
                                                                {kLow, 0xfff0, {16, false}},
                                                                {kHigh, 0x0fff, {16, false}},
                                                                {kHigh, 0x3f00, {8, true}},
                                                                {kHigh, 0x8000, {8, true}}};
  for (const auto &[alignment, used, range] : cases)
    EXPECT_EQ(bit_range({0, alignment}, used), range) << std::hex << used;
}

TEST(UsedBits, RangeOfAKnownNumberOfBits) {
  constexpr auto kAny = BitAlignment::automatic;
  for (int count = 8; count <= 16; ++count)
    for (const unsigned used : {0U, 1U, 0xfffU, 0xffffU}) {
      EXPECT_EQ(bit_range({count, BitAlignment::low}, used), (BitRange{count, false}));
      EXPECT_EQ(bit_range({count, BitAlignment::high}, used), (BitRange{count, count < 16}));
    }
  EXPECT_EQ(bit_range({12, kAny}, 0), (BitRange{12, false}));
  EXPECT_EQ(bit_range({12, kAny}, 0xfff), (BitRange{12, false}));
  EXPECT_EQ(bit_range({12, kAny}, 0x1f), (BitRange{12, false}));
  EXPECT_EQ(bit_range({12, kAny}, 0xfff0), (BitRange{12, true}));
  EXPECT_EQ(bit_range({12, kAny}, 0x0ff0), (BitRange{12, true}));
  EXPECT_EQ(bit_range({12, kAny}, 0xffff), (BitRange{12, true})) << "nothing is cut off";
  EXPECT_EQ(bit_range({11, kAny}, 0xffe0), (BitRange{11, true}));
  EXPECT_EQ(bit_range({16, kAny}, 0xfff0), (BitRange{16, false}));
  for (const int count : {-1, 1, 7, 17})
    EXPECT_THROW(bit_range({count, kAny}, 0), BadSetting) << count;
}

TEST(UsedBits, NeededOnlyForWhatIsNotKnown) {
  EXPECT_FALSE(SignificantBits{}.are_measured());
  EXPECT_TRUE((SignificantBits{0, BitAlignment::low}.are_measured()));
  EXPECT_TRUE((SignificantBits{12, BitAlignment::automatic}.are_measured()));
  EXPECT_FALSE((SignificantBits{12, BitAlignment::high}.are_measured()));
}

TEST(UsedBits, PlaneWithBits) {
  const Image<std::uint16_t> in(2, 2);
  const auto full = with_bits(in.plane(), {12, true});
  EXPECT_EQ(std::tuple(full.maximum, full.black, full.white), std::tuple(0xfff0, 0, 0xfff0));
  Plane<const std::uint16_t> limited = in.plane();
  limited.black = 16 << 8, limited.white = 235 << 8;
  const auto low = with_bits(limited, {10, false}), same = with_bits(limited, {});
  EXPECT_EQ(std::tuple(low.maximum, low.black, low.white), std::tuple(1023, 64, 940));
  EXPECT_EQ(std::tuple(same.maximum, same.black, same.white),
            std::tuple(0xffff, 16 << 8, 235 << 8));
  EXPECT_EQ(low.data, limited.data);
}

#ifdef HAVE_CUDA
class UsedBitsOnCuda {
 public:
  unsigned operator()(const Image<std::uint16_t> &in) {
    find_used_bits(cuda_, copy_.upload(in));
    return used_bits(cuda_);
  }
  Cuda &cuda() { return cuda_; }

 private:
  cuda::Stream stream_;
  Cuda cuda_{stream_.get()};
  test::DeviceCopy copy_{stream_.get()};
};

TEST(UsedBits, CudaCountsEverySample) {
  NEED_GPU();
  UsedBitsOnCuda used;
  expect_every_sample_to_count(used);
}

TEST(UsedBits, CudaCountsAllSamples) {
  NEED_GPU();
  UsedBitsOnCuda used;
  EXPECT_EQ(used_bits(used.cuda()), 0U);
  expect_all_bits(used);
}

TEST(UsedBits, CudaNeedsNoSynchronization) {
  NEED_GPU();
  UsedBitsOnCuda used;
  EXPECT_EQ(used(Image<std::uint16_t>({6}, 1, 1)), 6U);
  bool synchronized = false;
  used.cuda().on_complete([&] { synchronized = true; });
  EXPECT_EQ(used(Image<std::uint16_t>({9}, 1, 1)), 9U);
  EXPECT_FALSE(synchronized) << "reports of operators wait for synchronize()";
}
#else
TEST(UsedBits, CudaIsRefusedWithoutIt) {
  Cuda cuda;
  EXPECT_THROW(find_used_bits(cuda, Image<std::uint16_t>(1, 1).plane()), Error);
  EXPECT_THROW(used_bits(cuda), Error);
}
#endif

}  // namespace
}  // namespace cudascan
