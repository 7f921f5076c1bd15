// SPDX-License-Identifier: LGPL-2.1-or-later
// Order statistics of windows: known values, random settings compared with the text of
// kernels/swofilter/rank/rank.h taken literally, and properties. The oracle counts and does not
// sort.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "kernels/swofilter.h"
#include "kernels/swofilter/window.h"
#include "tests/kernels/operator_test.h"
#include "tests/kernels/swofilter/describe.h"

namespace cudascan {
namespace {

using namespace test;
using Op = SwoFilterOperator;
using Border = SwoFilterBorder;

/// A multiset of levels.
class Samples {
 public:
  void add(int level) { ++counts_[level], ++n_; }
  int size() const { return n_; }
  /// The level at index `number` of the sorted samples.
  int nth(int number) const {
    for (int below = 0; const auto &[level, count] : counts_)
      if ((below += count) > number) return level;
    return -1;
  }
  int trimmed_mean(int t) const {
    std::int64_t sum = 0;
    int below = 0;
    for (const auto &[level, count] : counts_) {
      const int first = std::max(below, t), last = std::min(below += count, n_ - t);
      if (last > first) sum += std::int64_t{level} * (last - first);
    }
    const int kept = n_ - 2 * t;
    return static_cast<int>(sum / kept + (2 * (sum % kept) >= kept));
  }
  int mode() const {
    int best = -1, most = 0;
    for (const auto &[level, count] : counts_)
      if (count > most) best = level, most = count;
    return best;
  }

 private:
  std::map<int, int> counts_;
  int n_ = 0;
};

template <typename T>
class Oracle {
 public:
  Oracle(const Image<T> &image, const SwoFilterParams &p)
      : image_(image),
        p_(p),
        job_(swo::make_job(p, image.plane().maximum, image.width(), image.height(), image.width(),
                           image.height(), true)) {}

  int level(int x, int y) const {
    const int middle = image_.at(x, y) >> job_.shift;
    const int rx = job_.mask().rx(), ry = job_.mask().ry();
    if (p_.op == Op::directional_median) {
      int low = 1 << 16, high = -1;
      const int r = std::min(rx, ry);
      for (const auto &[dx, dy, reach] : {std::array{1, 0, rx}, std::array{0, 1, ry},
                                          std::array{1, 1, r}, std::array{1, -1, r}}) {
        Samples line;
        for (int i = -reach; i <= reach; ++i) look(line, x + i * dx, y + i * dy);
        const int median = line.nth(line.size() / 2);
        low = std::min(low, median), high = std::max(high, median);
      }
      Samples three;
      three.add(low), three.add(middle), three.add(high);
      return three.nth(1);
    }
    Samples window;
    for (int row = 0; row < job_.mask().height; ++row)
      for (int column = 0; column < job_.mask().width; ++column)
        if (job_.mask().at(column, row) == swo::Mask::on)
          look(window, x + column - rx, y + row - ry);
    const int n = window.size();
    if (n == 0) return middle;
    const auto share = [&](double whole) { return static_cast<int>(n * whole + 1e-7); };
    switch (p_.op) {
      case Op::median:
        return window.nth(n / 2);
      case Op::rank:
        return window.nth(std::min(share(p_.percentile / 100), n - 1));
      case Op::alpha_trimmed_mean:
        return window.trimmed_mean(std::min(share(p_.alpha), (n - 1) / 2));
      default:
        return window.mode();
    }
  }
  T sample(int x, int y) const { return static_cast<T>(level(x, y) << job_.shift); }
  double work() const { return static_cast<double>(job_.mask().count()); }

 private:
  void look(Samples &samples, int x, int y) const {
    const int column = at(x, image_.width()), row = at(y, image_.height());
    if (column >= 0 && row >= 0)
      samples.add(image_.at(column, row) >> job_.shift);
    else if (p_.border == Border::constant)
      samples.add(p_.border_value);
  }
  int at(int i, int n) const {
    if (p_.border == Border::replicate) return std::clamp(i, 0, n - 1);
    if (p_.border == Border::reflect)
      while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
    return i >= 0 && i < n ? i : -1;
  }

  const Image<T> &image_;
  const SwoFilterParams &p_;
  const swo::FilterJob job_;
};

/// Compares all pixels, or as many as there is time for: the corners, then random ones.
template <typename T>
void expect_as_oracle(const Image<T> &in, const SwoFilterParams &p, int n_threads = 1) {
  Image<T> out(in.width(), in.height(), {3, 1}, in.plane().maximum);
  CpuRunner runner(n_threads);
  runner(in, out, p);
  ASSERT_TRUE(out.guards_intact());
  const Oracle<T> oracle(in, p);
  const int pixels = in.width() * in.height();
  const int looks = std::min(pixels, static_cast<int>(4 + 400'000 / oracle.work()));
  std::minstd_rand random(1);
  for (int i = 0; i < looks; ++i) {
    const int k = looks == pixels ? i : static_cast<int>(random() % pixels);
    const int x = i < 4 ? i % 2 * (in.width() - 1) : k % in.width();
    const int y = i < 4 ? i / 2 * (in.height() - 1) : k / in.width();
    ASSERT_EQ(out.at(x, y), oracle.sample(x, y)) << x << ", " << y << ": " << p;
  }
}

template <typename T>
std::vector<T> filtered(const std::vector<T> &samples, int width, int height,
                        const SwoFilterParams &p, T maximum = std::numeric_limits<T>::max()) {
  const Image<T> in(samples, width, height, {}, maximum);
  Image<T> out(width, height, {}, maximum);
  CpuRunner()(in, out, p);
  return out.samples();
}

using Bytes = std::vector<std::uint8_t>;

TEST(SwoFilterRank, KnownValues) {
  const Bytes in{10, 200, 30, 40, 50, 10, 90, 10, 70};
  const auto middle = [&](SwoFilterParams p) { return +filtered(in, 3, 3, p)[4]; };
  EXPECT_EQ(middle({.op = Op::median}), 40);
  EXPECT_EQ(middle({.op = Op::rank, .percentile = 0}), 10);
  EXPECT_EQ(middle({.op = Op::rank, .percentile = 100}), 200);
  EXPECT_EQ(middle({.op = Op::rank, .percentile = 99.99}), 200);
  EXPECT_EQ(middle({.op = Op::rank, .percentile = 33.3}), 10);
  EXPECT_EQ(middle({.op = Op::rank, .percentile = 33.4}), 30);
  EXPECT_EQ(middle({.op = Op::mode}), 10);
  EXPECT_EQ(middle({.op = Op::alpha_trimmed_mean, .alpha = 0}), 57);     // 510 / 9 = 56.7
  EXPECT_EQ(middle({.op = Op::alpha_trimmed_mean, .alpha = 0.25}), 40);  // 200 / 5
  EXPECT_EQ(middle({.op = Op::alpha_trimmed_mean, .alpha = 0.5}), 40);
  // The medians of row, column and both diagonals are 50.
  EXPECT_EQ(middle({.op = Op::directional_median}), 50);
}

TEST(SwoFilterRank, EvenNumbersTakeTheUpperOne) {
  EXPECT_EQ(filtered<std::uint8_t>({1, 2, 3, 4}, 2, 2, {.op = Op::median}), (Bytes{3, 3, 3, 3}));
  EXPECT_EQ(filtered<std::uint8_t>({1, 2}, 2, 1, {.op = Op::mode}), (Bytes{1, 1}));
  EXPECT_EQ(filtered<std::uint8_t>({1, 2}, 2, 1, {.op = Op::alpha_trimmed_mean}), (Bytes{2, 2}));
}

TEST(SwoFilterRank, WindowsWithoutSamplesGiveThePixel) {
  for (const Op op : {Op::median, Op::rank, Op::alpha_trimmed_mean, Op::mode})
    EXPECT_EQ(filtered<std::uint8_t>({5, 6, 7, 8}, 2, 2, {.op = op, .shape = "100;000;000"}),
              (Bytes{5, 6, 7, 5}));
}

TEST(SwoFilterRank, TenHighBitsRoundInLevels) {
  // The levels are 1, 2, 2 and 4: 2 is nearest to the mean 9 / 4.
  using Words = std::vector<std::uint16_t>;
  EXPECT_EQ(filtered<std::uint16_t>({64, 128, 128, 256}, 2, 2,
                                    {.op = Op::alpha_trimmed_mean, .alpha = 0}, 0xffc0),
            Words(4, 128));
}

/// Every operator with windows from one pixel to larger than the image.
TEST(SwoFilterRank, EqualsTheTextOfItsHeader) {
  constexpr const char *kShapes[] = {"ellipse",     "cross",       "010;111;010",
                                     "110;001;000", "000;000;001", "10101;00000;10101;01010;11111",
                                     "1011011"};
  constexpr int kWindows[] = {1, 3, 5, 7, 9, 11, 13, 15, 21, 33, 65, 127, 255};
  constexpr Size kImages[] = {{1, 1},   {2, 3},    {37, 5},   {1, 40},  {40, 1},
                              {65, 40}, {300, 31}, {733, 19}, {18, 150}};
  std::mt19937 random(5);
  const auto below = [&](int n) { return static_cast<int>(random() % n); };
  for_each_format<SwoFilterParams>([&]<typename In, typename Out>(In in_max, Out,
                                                                  const char *name) {
    if constexpr (std::is_same_v<In, Out>) {
      for (int i = 0; i < 250; ++i) {
        SwoFilterParams p;
        p.op = std::array{Op::median, Op::rank, Op::alpha_trimmed_mean, Op::mode,
                          Op::directional_median}[below(5)];
        const int most = below(3) ? 6 : static_cast<int>(std::size(kWindows));
        p.window_width = kWindows[below(most)];
        p.window_height = below(2) ? p.window_width : kWindows[below(most)];
        if (below(3) == 0) p.shape = kShapes[below(std::size(kShapes))];
        p.border = static_cast<Border>(below(4));
        p.border_value = below(256);
        p.percentile = below(3) ? below(1000) / 10. : 50. * below(3);
        p.alpha = below(3) ? below(500) / 1000. : 0.5;
        const auto [width, height] = kImages[below(std::size(kImages))];
        const Content content = kContents[below(std::size(kContents))];
        SCOPED_TRACE(testing::Message() << name << ", " << width << "x" << height << ", content "
                                        << static_cast<int>(content) << ", case " << i);
        const Image<In> in(make_content(content, width, height, in_max, i), width, height,
                           kLayouts[below(std::size(kLayouts))], in_max);
        expect_as_oracle(in, p, 1 + below(3));
        if (HasFailure()) return;
      }
    }
  });
}

/// Rows that are divided into stripes, for each method of computation.
TEST(SwoFilterRank, WideImages) {
  for (const Op op : {Op::median, Op::alpha_trimmed_mean, Op::mode, Op::directional_median})
    for (const int window : {3, 9, 25})
      for (const Border border : {Border::clip, Border::reflect}) {
        const SwoFilterParams p{.op = op, .window = window, .border = border};
        expect_as_oracle(
            Image<std::uint8_t>(make_content<std::uint8_t>(Content::text, 5003, 40, 255), 5003, 40,
                                {1, 3, true}),
            p);
        expect_as_oracle(
            Image<std::uint16_t>(make_content<std::uint16_t>(Content::random, 5003, 40, 65535),
                                 5003, 40, {2, 2, true}),
            p);
      }
}

/// Images of several tiles in both directions, for windows with fewer runs across or down. Equal
/// samples have many codes next to each other.
TEST(SwoFilterRank, ImagesOfSeveralTiles) {
  constexpr Size kWindows[] = {{17, 31}, {3, 65}, {65, 3}, {101, 41}, {255, 201}};
  int i = 0;
  for (const Op op : {Op::median, Op::rank, Op::alpha_trimmed_mean, Op::mode})
    for (const auto [width, height] : kWindows)
      for (const char *shape : {"rectangle", "ellipse", "cross"}) {
        const SwoFilterParams p{.op = op,
                                .window_width = width,
                                .window_height = height,
                                .shape = shape,
                                .border = static_cast<Border>(i % 4),
                                .border_value = 77,
                                .percentile = 10. * (i % 11),
                                .alpha = 0.1 * (i % 6)};
        const Content content = kContents[i % std::size(kContents)];
        const Layout layout = kLayouts[i % std::size(kLayouts)];
        SCOPED_TRACE(testing::Message() << "content " << static_cast<int>(content));
        expect_as_oracle(Image<std::uint8_t>(make_content<std::uint8_t>(content, 600, 300, 255, i),
                                             600, 300, layout),
                         p, 1 + i % 3);
        expect_as_oracle(
            Image<std::uint16_t>(make_content<std::uint16_t>(content, 300, 600, 65535, i), 300, 600,
                                 layout),
            p, 1 + i % 3);
        if (HasFailure()) return;
        ++i;
      }
}

/// A monotonic change of the levels, increasing or decreasing, changes the result in the same way.
TEST(SwoFilterRank, FollowsTheOrderOfLevels) {
  constexpr int kWidth = 203, kHeight = 61;
  const auto samples = make_content<std::uint8_t>(Content::text, kWidth, kHeight, 255);
  std::vector<std::uint16_t> stretched;
  for (const int v : samples) stretched.push_back(static_cast<std::uint16_t>(v * v + 11 * v));
  Bytes inverted;
  for (const int v : samples) inverted.push_back(static_cast<std::uint8_t>(255 - v));
  for (const int window : {3, 7, 15, 41})
    for (const Op op : {Op::median, Op::rank, Op::mode, Op::directional_median}) {
      const SwoFilterParams p{.op = op, .window = window, .percentile = 20};
      SCOPED_TRACE(testing::Message() << p);
      const Bytes out = filtered(samples, kWidth, kHeight, p);
      std::vector<std::uint16_t> expected;
      for (const int v : out) expected.push_back(static_cast<std::uint16_t>(v * v + 11 * v));
      ASSERT_TRUE(same(filtered(stretched, kWidth, kHeight, p), expected, kWidth));
    }
  for (const int window : {3, 7, 41}) {
    const SwoFilterParams p{.op = Op::median, .window = window, .border = Border::reflect};
    Bytes expected = filtered(samples, kWidth, kHeight, p);
    for (auto &v : expected) v = static_cast<std::uint8_t>(255 - v);
    ASSERT_TRUE(same(filtered(inverted, kWidth, kHeight, p), expected, kWidth));
  }
}

/// Trimming all but one sample gives the median. A larger percentile gives a larger result.
TEST(SwoFilterRank, OperatorsAgree) {
  constexpr int kWidth = 150, kHeight = 70;
  const auto samples = make_content<std::uint16_t>(Content::random, kWidth, kHeight, 65535);
  for (const int window : {1, 3, 9, 17, 51})
    for (const Border border : {Border::replicate, Border::reflect, Border::constant}) {
      SwoFilterParams p{.op = Op::median, .window = window, .border = border, .border_value = 9};
      const auto median = filtered(samples, kWidth, kHeight, p);
      p.op = Op::alpha_trimmed_mean, p.alpha = 0.5;
      EXPECT_TRUE(same(filtered(samples, kWidth, kHeight, p), median, kWidth)) << p;
      p.op = Op::rank;
      std::vector<std::uint16_t> last(samples.size());
      for (const int percentile : {0, 10, 50, 51, 99, 100}) {
        p.percentile = percentile;
        const auto next = filtered(samples, kWidth, kHeight, p);
        for (std::size_t i = 0; i < next.size(); ++i) ASSERT_LE(last[i], next[i]) << p;
        if (percentile == 50) {
          EXPECT_TRUE(same(next, median, kWidth)) << p;
        }
        last = next;
      }
    }
}

}  // namespace

using Op = SwoFilterOperator;
using Border = SwoFilterBorder;
CHECK_OPERATOR(SwoFilterRankOperator, SwoFilterParams, {.op = Op::median},
               {.op = Op::median, .window = 5, .border = Border::replicate},
               {.op = Op::rank, .window_width = 7, .window_height = 3, .percentile = 80},
               {.op = Op::alpha_trimmed_mean, .window = 5}, {.op = Op::mode, .window = 5},
               {.op = Op::directional_median, .window = 7});

}  // namespace cudascan
