// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/runlengths.h"

#include <map>
#include <string>

#include "tests/kernels/operator_test.h"

namespace cudascan {
namespace {

using test::Content;
using test::Image;
using Gray8 = std::vector<std::uint8_t>;

template <typename T>
RunLengths runs_of(const Image<T> &in, const RunLengthParams &params = {}, int threads = 1) {
  Cpu cpu(threads);
  RunLengths counts;
  counts.rows.fill(7);  // what was there does not matter
  count_runs(cpu, in.plane(), params, counts);
  return counts;
}

/// Pictures of characters: '#' is ink.
Image<std::uint8_t> picture(const std::vector<std::string> &rows) {
  Gray8 samples;
  for (const auto &row : rows)
    for (const char c : row) samples.push_back(c == '#' ? 0 : 200);
  return {samples, static_cast<int>(rows[0].size()), static_cast<int>(rows.size())};
}

/// The counts that are not 0, as length and count.
using Lengths = std::map<int, int>;
Lengths lengths(const std::array<std::uint32_t, kRunBins> &counts) {
  Lengths found;
  for (int i = 0; i < kRunBins; ++i)
    if (counts[i]) found[i] = static_cast<int>(counts[i]);
  return found;
}

TEST(RunLengths, KnownValues) {
  const auto in = picture({"#.......",  //
                           "..###.#.",  //
                           "..###...",  //
                           ".##.##.#",  //
                           "..####..",  //
                           "....#..."});
  const RunLengths counts = runs_of(in);
  EXPECT_EQ(lengths(counts.rows), (Lengths{{1, 2}, {2, 2}, {3, 2}, {4, 1}}));
  EXPECT_EQ(lengths(counts.columns), (Lengths{{1, 4}, {2, 2}, {4, 1}}));
  // Inside, the ends of runs at the edges of the part are not known.
  const RunLengths part = runs_of(in, {.roi = {2, 1, 3, 4}});
  EXPECT_EQ(lengths(part.rows), (Lengths{}));
  EXPECT_EQ(lengths(part.columns), (Lengths{}));
  const RunLengths wider = runs_of(in, {.roi = {1, 0, 6, 6}});
  EXPECT_EQ(lengths(wider.rows), (Lengths{{1, 1}, {2, 1}, {3, 2}, {4, 1}}));
}

TEST(RunLengths, LevelOfInk) {
  const Image<std::uint8_t> in({9, 5, 5, 7, 9, 3, 9}, 7, 1);
  EXPECT_EQ(lengths(runs_of(in).rows), (Lengths{}));
  EXPECT_EQ(lengths(runs_of(in, {.level = 3}).rows), (Lengths{{1, 1}}));
  EXPECT_EQ(lengths(runs_of(in, {.level = 5}).rows), (Lengths{{1, 1}, {2, 1}}));
  EXPECT_EQ(lengths(runs_of(in, {.level = 8}).rows), (Lengths{{1, 1}, {3, 1}}));
  EXPECT_EQ(lengths(runs_of(in, {.level = 70000}).rows), (Lengths{}));
  const Image<std::uint16_t> deep({900, 500, 500, 700, 900}, 5, 1);
  EXPECT_EQ(lengths(runs_of(deep, {.level = 500}).rows), (Lengths{{2, 1}}));
}

TEST(RunLengths, LongRuns) {
  for (const int length : {63, 64, 65, 254, 255, 256, 5000}) {
    Gray8 samples(length + 3, 0);
    samples.front() = samples.back() = 255;
    samples[length + 1] = 255;
    const int bin = std::min(length, kRunBins - 1);
    const Image<std::uint8_t> row(samples, length + 3, 1), column(samples, 1, length + 3);
    EXPECT_EQ(lengths(runs_of(row).rows), (Lengths{{bin, 1}}));
    EXPECT_EQ(lengths(runs_of(row).columns), (Lengths{}));
    EXPECT_EQ(lengths(runs_of(column).columns), (Lengths{{bin, 1}}));
    EXPECT_EQ(lengths(runs_of(column).rows), (Lengths{}));
  }
}

TEST(RunLengths, RunsAtTheEdge) {
  const auto expect = [](const Gray8 &samples, const Rectangle &part, const Lengths &want) {
    const int n = static_cast<int>(samples.size());
    const Image<std::uint8_t> row(samples, n, 1), column(samples, 1, n);
    const Rectangle turned{part.y, part.x, part.height, part.width};
    EXPECT_EQ(lengths(runs_of(row, {.roi = part}).rows), want) << n;
    EXPECT_EQ(lengths(runs_of(column, {.roi = turned}).columns), want) << n;
  };
  const Lengths longest{{255, 1}};
  for (const int length : {1, 253, 254, 255, 256, 700}) {
    const Lengths want = length < 255 ? Lengths{} : longest;
    Gray8 samples(length, 0);
    expect(samples, {}, want);
    samples.push_back(255);
    expect(samples, {}, want);
    expect(Gray8(samples.rbegin(), samples.rend()), {}, want);
  }
  // Only what is inside is measured.
  const Gray8 ink(900, 0);
  expect(ink, {300, 0, 254, 1}, {});
  expect(ink, {300, 0, 255, 1}, longest);
}

/// Walks along each line and looks at each sample.
template <typename T>
RunLengths by_walking(const Image<T> &in, const RunLengthParams &params) {
  Rectangle roi = params.roi;
  if (roi.width == 0 || roi.height == 0) roi = {0, 0, in.width(), in.height()};
  const int width = std::min(roi.width, in.width() - roi.x);
  const int height = std::min(roi.height, in.height() - roi.y);
  RunLengths counts;
  const auto walk = [](int n, const auto &is_ink, auto &bins) {
    int length = 0;
    for (int i = 0; i <= n; ++i) {
      if (i < n && is_ink(i)) {
        ++length;
        continue;
      }
      const bool touches = i == n || length == i;
      if (length > 0 && (!touches || length >= kRunBins - 1))
        ++bins[std::min(length, kRunBins - 1)];
      length = 0;
    }
  };
  const auto is_ink = [&](int x, int y) { return in.at(roi.x + x, roi.y + y) <= params.level; };
  for (int y = 0; y < height; ++y)
    if (!params.sparse || (roi.y + y) % 4 == 0)
      walk(
          width, [&](int i) { return is_ink(i, y); }, counts.rows);
  const int middle_group = (roi.x / 32 + (roi.x + width - 1) / 32) / 2;
  for (int x = 0; x < width; ++x)
    if (!params.sparse || ((roi.x + x) / 32 - middle_group) % 4 == 0)
      walk(
          height, [&](int i) { return is_ink(x, i); }, counts.columns);
  return counts;
}

template <typename T>
void expect_same_as_walking(T maximum) {
  for (const auto [width, height] :
       {test::Size{1, 1}, {2, 2}, {63, 9}, {64, 70}, {65, 40}, {130, 131}, {600, 300}, {3, 1500}})
    for (const Content content : test::kContents) {
      const Image<T> in(test::make_content<T>(content, width, height, maximum), width, height,
                        {.padding = 5}, maximum);
      for (const unsigned level : {0u, maximum / 3u, maximum / 2u, unsigned{maximum}})
        for (const Rectangle roi : {Rectangle{},
                                    {width / 3, height / 4, width / 2, height / 2 + 1},
                                    {width - 1, 0, 9, height},
                                    {0, height - 1, width, 1}})
          for (const bool sparse : {false, true}) {
            const RunLengthParams params{roi, level, sparse};
            const RunLengths want = by_walking(in, params), got = runs_of(in, params, 3);
            ASSERT_EQ(want.rows, got.rows) << width << "x" << height << ", level " << level;
            ASSERT_EQ(want.columns, got.columns) << width << "x" << height << ", level " << level;
          }
    }
}

TEST(RunLengths, EqualsWalking) {
  expect_same_as_walking<std::uint8_t>(0xff);
  expect_same_as_walking<std::uint16_t>(0xffff);
  expect_same_as_walking<std::uint16_t>(0x3ff);
}

TEST(RunLengths, Median) {
  RunLengths counts;
  EXPECT_EQ(median_run(counts), 0);
  counts.rows[5] = 1;
  EXPECT_EQ(median_run(counts), 5);
  counts.columns[5] = 3;
  EXPECT_EQ(median_run(counts), 5);
  counts.rows[1] = 2;  // 6 runs; the median is one quarter into the 4 of length 5
  EXPECT_EQ(median_run(counts), 4.75);
  EXPECT_EQ(median_run(counts, 2), 5);
  counts.columns[1] = 2;  // half of them are shorter than 1.5
  EXPECT_EQ(median_run(counts), 1.5);
  EXPECT_EQ(median_run(counts, 6), 0);
}

TEST(RunLengths, RefusesWhatMakesNoSense) {
  const Image<std::uint8_t> in(4, 4);
  EXPECT_THROW(runs_of(in, {.roi = {4, 0, 1, 1}}), BadSetting);
  EXPECT_THROW(runs_of(in, {.roi = {0, -1, 1, 1}}), BadSetting);
  Cpu cpu;
  RunLengths counts;
  Plane<const std::uint8_t> plane = in.plane();
  plane.stride = 3;
  EXPECT_THROW(count_runs(cpu, plane, {}, counts), BadSetting);
}

#ifdef HAVE_CUDA
template <typename T>
void expect_cuda_counts_as_cpu(T maximum) {
  cuda::Stream stream;
  Cuda cuda(stream.get());
  test::DeviceCopy device(stream.get());
  for (const auto [width, height] : {test::Size{1, 1}, {37, 2}, {2, 700}, {257, 129}, {640, 95}})
    for (const Content content : {Content::text, Content::random, Content::black}) {
      const Image<T> in(test::make_content<T>(content, width, height, maximum), width, height,
                        {.offset = 1}, maximum);
      const Plane<T> from = device.upload(in);
      for (const Rectangle roi : {Rectangle{}, {width / 3, 0, width, height / 2 + 1}})
        for (const bool sparse : {false, true}) {
          const RunLengthParams params{roi, maximum / 2u, sparse};
          RunLengths got;
          count_runs(cuda, Plane<const T>(from), params, got);
          cuda.synchronize();
          const RunLengths want = runs_of(in, params);
          ASSERT_EQ(want.rows, got.rows) << width << "x" << height << ", sparse " << sparse;
          ASSERT_EQ(want.columns, got.columns) << width << "x" << height << ", sparse " << sparse;
        }
    }
}

TEST(RunLengths, CudaEqualsCpu) {
  NEED_GPU();
  expect_cuda_counts_as_cpu<std::uint8_t>(0xff);
  expect_cuda_counts_as_cpu<std::uint16_t>(0xffff);
}
#endif

}  // namespace
}  // namespace cudascan
