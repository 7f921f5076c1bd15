// SPDX-License-Identifier: LGPL-2.1-or-later
// What cudascan-scan measures on pages in device memory, against loops that do it pixel by pixel.
// The tests of the program compare it with the CPU's on whole pages.
#ifdef HAVE_CUDA
#include "kernels/pages/pages.h"

#include <array>
#include <cmath>
#include <random>

#include "kernels/pages/jpeg_code.h"
#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Image;

class PagesCuda : public testing::Test {
 protected:
  void SetUp() override {
    NEED_GPU();
    stream_.emplace();
    cuda_.emplace(stream_->get());
  }

  template <typename T>
  Image<T> noise(int width, int height) {
    std::vector<T> samples(static_cast<std::size_t>(width) * height);
    for (T &sample : samples) sample = static_cast<T>(random_());
    return {samples, width, height, {.unit = 4}};
  }

  std::optional<cuda::Stream> stream_;
  std::optional<Cuda> cuda_;
  std::mt19937 random_{7};
};

template <typename T>
void expect_means(Cuda &cuda, CUstream_st *stream, const Image<T> &page, int by_x, int by_y) {
  Image<std::uint8_t> means(page.width() / by_x, page.height() / by_y);
  test::DeviceCopy in(stream), out(stream);
  const Plane<T> from = in.upload(page);
  const Plane<std::uint8_t> to = out.upload(means);
  pages::queue_means(cuda, Plane<const T>(from), by_x, by_y, to);
  out.download(means.memory().begin(), means.memory().size());
  cuda.synchronize();
  for (int y = 0; y < means.height(); ++y)
    for (int x = 0; x < means.width(); ++x) {
      long sum = 0;
      for (int i = 0; i < by_x * by_y; ++i)
        sum += page.at(x * by_x + i % by_x, y * by_y + i / by_x) >> (8 * (sizeof(T) - 1));
      ASSERT_EQ(means.at(x, y), sum / (by_x * by_y)) << x << ' ' << y << " by " << by_x;
    }
}

TEST_F(PagesCuda, MeansOfBlocks) {
  const auto narrow = noise<std::uint8_t>(150, 97);
  const auto wide = noise<std::uint16_t>(131, 70);
  for (const auto &[by_x, by_y] : {std::pair{8, 2}, {1, 1}, {3, 5}, {64, 64}, {2, 33}}) {
    expect_means(*cuda_, stream_->get(), narrow, by_x, by_y);
    expect_means(*cuda_, stream_->get(), wide, by_x, by_y);
  }
}

template <typename T>
void expect_kinds(Cuda &cuda, CUstream_st *stream) {
  constexpr T kWhite = std::numeric_limits<T>::max();
  const auto kinds_of = [&](const Image<T> &page) {
    test::DeviceCopy copy(stream);
    const auto kinds = pages::level_kinds(cuda, Plane<const T>(copy.upload(page)));
    return std::array{kinds.first, kinds.differs, kinds.between};
  };
  using Kinds = std::array<std::uint32_t, 3>;
  for (const int width : {1, 4, 7, 130})
    for (const T level : {T{0}, T{77}, kWhite}) {
      const bool between = level != 0 && level != kWhite;
      Image<T> page(std::vector<T>(width * 40, level), width, 40, {.unit = 4});
      EXPECT_EQ(kinds_of(page), (Kinds{level, 0, between}));
      page.plane().row(39)[width - 1] = level == kWhite ? 0 : kWhite;
      EXPECT_EQ(kinds_of(page), (Kinds{level, 1, between}));
      page.plane().row(20)[width / 2] = 1;
      EXPECT_EQ(kinds_of(page), (Kinds{level, 1, 1}));
    }
}

TEST_F(PagesCuda, KindsOfLevels) {
  expect_kinds<std::uint8_t>(*cuda_, stream_->get());
  expect_kinds<std::uint16_t>(*cuda_, stream_->get());
}

TEST_F(PagesCuda, SquaresOfLines) {
  constexpr int kWidth = 37, kHeight = 301, kStride = kHeight + 5, kMargin = 11, kAround = 4;
  constexpr int kRows = kHeight + 2 * kMargin;
  std::vector<std::int8_t> numbers(kWidth * kStride);
  for (std::int8_t &number : numbers) number = static_cast<std::int8_t>(random_() % 65) - 32;
  std::vector<double> slopes;  // more than one launch takes
  for (int i = -150; i <= 150; ++i) slopes.push_back(i * 0.5 / 150);
  const auto device = pages::upload(*cuda_, {numbers.data(), kWidth, kHeight, kStride});
  const auto halves = pages::half_squares(*cuda_, device, kMargin, kAround, slopes);
  const auto parts = pages::part_squares(*cuda_, device, kMargin, slopes);
  ASSERT_EQ(halves.size(), slopes.size());
  ASSERT_EQ(parts.size(), slopes.size());
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const auto sums_of = [&](int strip, int strips) {
      std::vector<long> sums(kRows);
      for (int x = 0; x < kWidth; ++x)
        for (int y = 0; y < kHeight && x * strips / kWidth == strip; ++y)
          sums[kMargin + y + std::lround((x - 0.5 * kWidth) * slopes[i])] +=
              numbers[x * kStride + y];
      return sums;
    };
    const auto squares_of = [](const std::vector<long> &sums, int begin, int end) {
      long all = 0;
      for (int y = begin; y < end; ++y) all += sums[y] * sums[y];
      return all;
    };
    std::vector<long> whole = sums_of(0, 1);
    EXPECT_EQ(halves[i].left, squares_of(sums_of(0, 2), 0, kRows));
    EXPECT_EQ(halves[i].right, squares_of(sums_of(1, 2), 0, kRows));
    EXPECT_EQ(halves[i].top, squares_of(whole, 0, kRows / 2));
    EXPECT_EQ(halves[i].bottom, squares_of(whole, kRows / 2, kRows));
    for (int level = 0; level < 4; ++level) {
      long all = 0;
      for (int strip = 0; strip < 8 >> level; ++strip)
        all += squares_of(sums_of(strip, 8 >> level), 0, kRows);
      EXPECT_EQ(parts[i].level[level], all) << level;
    }
    for (int k = 0; k < 2; ++k) {
      int strongest = 0;
      for (int y = 1; y < kRows; ++y)
        if (std::abs(whole[y]) > std::abs(whole[strongest])) strongest = y;
      for (int y = std::max(0, strongest - kAround); y <= std::min(kRows - 1, strongest + kAround);
           ++y)
        whole[y] = 0;
    }
    EXPECT_EQ(halves[i].most, squares_of(whole, 0, kRows));
  }
}

/// A code of blocks without coefficients: 0 for the DC value, 10 for the end of the block.
TEST_F(PagesCuda, CodeOfManyEqualBlocks) {
  pages::JpegCode code;
  for (auto *tables : {&code.dc_tables, &code.ac_tables})
    for (pages::HuffmanTable &table : *tables) table.counts[tables == &code.dc_tables ? 0 : 1] = 1;
  code.ac_tables[0].counts = {0, 3};  // 00, 01 and 10
  code.ac_tables[0].symbols = {1, 2, 0};
  code.dc = code.ac = {0};
  // 010 for each block: eight of them have three bytes.
  std::vector<std::uint8_t> bytes;
  while (bytes.size() < 150000)
    for (const int byte : {0x49, 0x24, 0x92}) bytes.push_back(static_cast<std::uint8_t>(byte));
  code.size = static_cast<std::uint32_t>(bytes.size());
  cuda::PinnedBuffer pinned(bytes.size() + pages::JpegCode::kAfter);
  std::memset(pinned.data(), 0, pinned.size());
  std::memcpy(pinned.data(), bytes.data(), bytes.size());
  code.bytes = static_cast<const std::uint8_t *>(pinned.data());
  const std::uint32_t blocks = code.size / 3 * 8;
  const auto check = [&](std::uint32_t expected) {
    code.segments = {{0, code.size, expected}};
    const std::uint32_t *result = pages::queue_check(*cuda_, code);
    cuda_->synchronize();
    return *result;
  };
  EXPECT_EQ(check(blocks), 0u);
  EXPECT_NE(check(blocks + 1), 0u);
  EXPECT_NE(check(blocks - 1), 0u);
  auto *const middle = static_cast<std::uint8_t *>(pinned.data()) + 70001;
  *middle = 0xff;  // no code has so many ones
  EXPECT_NE(check(blocks), 0u);
}

}  // namespace
}  // namespace cudascan
#endif
