// SPDX-License-Identifier: LGPL-2.1-or-later
// The run time of regions, kernels/gswo/gswo_region.h, with an emulated device: random kernels on
// random images of one memory give what they give without a device.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <vector>

#include "pictures.h"

namespace cudascan::gswo::test {
namespace {

namespace gswo = ::gswo;

bool in(const Area &a, int y, int x) {
  return a.y0 <= y && y <= a.y1 && a.x0 <= x && x <= a.x1;
}

TEST(GswoAreas, AreWhatTheirPixelsSay) {
  std::mt19937 random(1);
  for (int turn = 0; turn < 20000; ++turn) {
    Area a = any_area(random, 6), b = any_area(random, 6);
    if (a.empty() || b.empty()) continue;
    const Area both = gswo::common(a, b), all = gswo::around(a, b);
    int only_around = 0, outside_a = 0;
    for (int y = -1; y < 7; ++y)
      for (int x = -1; x < 7; ++x) {
        EXPECT_EQ(in(both, y, x), in(a, y, x) && in(b, y, x));
        only_around += in(all, y, x) && !in(a, y, x) && !in(b, y, x);
        outside_a += in(b, y, x) && !in(a, y, x);
      }
    EXPECT_EQ(a.contains(b), outside_a == 0);
    EXPECT_EQ(gswo::fit_together(a, b), only_around == 0);
    int times[8][8] = {};
    gswo::without(a, both, [&](const Area &part) {
      for (int y = part.y0; y <= part.y1; ++y)
        for (int x = part.x0; x <= part.x1; ++x) ++times[y][x];
    });
    for (int y = 0; y < 7; ++y)
      for (int x = 0; x < 7; ++x) EXPECT_EQ(times[y][x], in(a, y, x) && !in(b, y, x));
  }
}

/// A kernel: windows of `reads` around each pixel of `area`, whose results go to another image.
struct Windows {
  int from, to, second;  ///< images; second = one that is read at the pixel itself, or -1
  Area area;
  int up, down, left, right;
  bool all;  ///< every window writes

  template <class Read, class Other>
  bool result(int y, int x, const Read &read, const Other &other, Pixel &value) const {
    unsigned sum = 7;
    for (int dy = -up; dy <= down; ++dy)
      for (int dx = -left; dx <= right; ++dx) sum = sum * 5 + read(y + dy, x + dx);
    if (second >= 0) sum += 3 * other(y, x);
    value = static_cast<Pixel>(sum ^ (sum >> 16));
    return all || value % 3;
  }
};

Windows any_windows(std::mt19937 &random, int pictures) {
  Windows w;
  w.from = static_cast<int>(random() % pictures), w.to = static_cast<int>(random() % pictures);
  w.second = static_cast<int>(random() % (2 * pictures)) - pictures;
  do w.area = any_area(random, std::min(kHeight, kWidth));
  while (w.area.empty());
  if (random() % 2) w.area = {0, kHeight - 1, 0, kWidth - 1};
  for (int *reach : {&w.up, &w.down, &w.left, &w.right})
    *reach = static_cast<int>(random() % (kMargin + 1));
  w.all = random() % 3;
  return w;
}

/// Without a device: all windows see the images as they were before.
void run(std::vector<Pixel> &memory, const std::vector<Picture> &pictures, const Windows &w) {
  std::vector<Pixel> before = memory;
  for (int y = w.area.y0; y <= w.area.y1; ++y)
    for (int x = w.area.x0; x <= w.area.x1; ++x) {
      Pixel value = 0;
      if (w.result(
              y, x, [&](int r, int c) { return pictures[w.from].row(before, r)[c]; },
              [&](int r, int c) { return pictures[w.second].row(before, r)[c]; }, value))
        pictures[w.to].row(memory, y)[x] = value;
    }
}

void launch(gswo::Region &region, std::vector<Pixel> &memory, const std::vector<Picture> &pictures,
            const Windows &w) {
  const auto rows_of = [&](int image) {
    return [&memory, &pictures, image](long long y) {
      return pictures[image].row(memory, static_cast<int>(y));
    };
  };
  const auto name = [&](int image) { return pictures[image].row(memory, 0); };
  gswo::Plane other{};
  if (w.second >= 0)
    other = region.read("other", name(w.second), w.area.y0, w.area.y1, w.area.x0, w.area.x1,
                        rows_of(w.second));
  const gswo::Plane from = region.read("from", name(w.from), w.area.y0 - w.up, w.area.y1 + w.down,
                                       w.area.x0 - w.left, w.area.x1 + w.right, rows_of(w.from));
  const gswo::Plane to = region.write("to", name(w.to), w.area.y0, w.area.y1, w.area.x0, w.area.x1,
                                      rows_of(w.to), w.all);
  emulated::device().add([=] {
    for (int y = w.area.y0; y <= w.area.y1; ++y)
      for (int x = w.area.x0; x <= w.area.x1; ++x) {
        Pixel value = 0;
        if (w.result(
                y, x, [&](int r, int c) { return at(from, r, c); },
                [&](int r, int c) { return at(other, r, c); }, value))
          at(to, y, x) = value;
      }
  });
  region.launched("windows");
}

/// Host code between kernels, announced.
void run_host(std::vector<Pixel> &memory, unsigned what) {
  for (std::size_t k = 0; k < memory.size(); k += 5 + what % 7) memory[k] ^= what;
}
unsigned sum_of(const std::vector<Pixel> &memory) {
  unsigned sum = 0;
  for (const Pixel p : memory) sum = sum * 31 + p;
  return sum;
}

TEST(GswoRegion, RandomKernelsGiveTheSame) {
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::mt19937 random(seed);
    std::vector<Pixel> expected(600), memory;
    for (Pixel &p : expected) p = static_cast<Pixel>(random());
    memory = expected;
    std::vector<Picture> pictures;
    for (int k = 0; k < 4; ++k) pictures.push_back(any_picture(random, memory.size()));
    for (int regions = 0; regions < 2; ++regions) {
      {
        gswo::Region region;
        for (int turn = 0; turn < 12; ++turn) {
          const Windows w = any_windows(random, 4);
          run(expected, pictures, w);
          switch (random() % 8) {
            case 0: {
              gswo::Region inner;  // joins
              launch(inner, memory, pictures, w);
              break;
            }
            case 1: {
              gswo::host_changes();
              {
                gswo::Region other;  // in unknown host code, which then reads pixels
                launch(other, memory, pictures, w);
              }
              ASSERT_EQ(sum_of(memory), sum_of(expected)) << seed << ", " << turn;
              break;
            }
            default:
              launch(region, memory, pictures, w);
          }
          const unsigned what = static_cast<unsigned>(random());
          if (what % 8 == 0) {
            gswo::host_changes();
            run_host(memory, what);
            run_host(expected, what);
          } else if (what % 8 == 1) {
            gswo::host_reads();
            ASSERT_EQ(sum_of(memory), sum_of(expected)) << seed << ", " << turn;
          }
        }
      }
      ASSERT_EQ(memory, expected) << seed;
    }
  }
}

/// Calls of cudaMalloc, copies to the device and back, within a piece of code.
struct Costs {
  long long mallocs, up, down;
  friend bool operator==(const Costs &, const Costs &) = default;
};
template <class Code>
Costs costs_of(const Code &code) {
  const auto now = [] {
    return Costs{gswo::counts().allocations, gswo::counts().uploads, gswo::counts().downloads};
  };
  const Costs before = now();
  code();
  const Costs after = now();
  return {after.mallocs - before.mallocs, after.up - before.up, after.down - before.down};
}
std::ostream &operator<<(std::ostream &o, const Costs &c) {
  return o << c.mallocs << " allocations, " << c.up << " uploads, " << c.down << " downloads";
}

TEST(GswoRegion, MemoryIsKeptForTheNextRegion) {
  std::vector<Pixel> memory(600);
  std::mt19937 random(3);
  Picture a, b;
  for (int k = 0; k < kHeight + 2 * kMargin; ++k)
    a.rows.push_back(2 + 10 * k), b.rows.push_back(300 + 10 * k);
  const std::vector<Picture> pictures{a, b};
  const Windows there{0, 1, -1, {0, kHeight - 1, 0, kWidth - 1}, 1, 1, 1, 1, true},
      back{1, 0, -1, {0, kHeight - 1, 0, kWidth - 1}, 0, 0, 0, 0, true};
  gswo::Pool::get().release();
  const auto region = [&] {
    gswo::Region r;
    for (int k = 0; k < 50; ++k) {
      launch(r, memory, pictures, there);
      launch(r, memory, pictures, back);
    }
  };
  EXPECT_EQ(costs_of(region), (Costs{2, 1, 2}));
  EXPECT_EQ(costs_of(region), (Costs{0, 1, 2}));
  const long long used = static_cast<long long>(emulated::device().used);
  EXPECT_GT(used, 0);
  gswo::Pool::get().release();
  EXPECT_EQ(emulated::device().used, 0u);
}

TEST(GswoRegion, GrowingImagesAreNotCopiedEachTime) {
  std::vector<Pixel> memory(20000), expected;
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<Pixel>(k * k);
  expected = memory;
  Picture a, b;
  for (int k = 0; k < 500; ++k) a.rows.push_back(10 * k + 2), b.rows.push_back(10000 + 10 * k);
  const std::vector<Picture> pictures{a, b};
  const long long before = emulated::device().on_device;
  {
    gswo::Region r;
    for (int y = 0; y < 490; y += 2) {
      const Windows w{0, 1, -1, {y, y + 1, 0, kWidth - 1}, 1, 1, 1, 1, true};
      run(expected, pictures, w);
      launch(r, memory, pictures, w);
    }
  }
  EXPECT_EQ(memory, expected);
  EXPECT_LT(emulated::device().on_device - before, 60);
}

TEST(GswoRegion, LargeImagesAreCopiedByThreads) {
  constexpr int rows = 3001, columns = 1009;
  for (const char *threads : {"0", "1", "3", "16"})
    for (const bool shuffled : {false, true}) {
      ASSERT_EQ(setenv("GSWO_COPY_THREADS", threads, 1), 0);
      std::vector<Pixel> memory(std::size_t(2) * rows * columns), expected;
      for (std::size_t k = 0; k < memory.size(); ++k)
        memory[k] = static_cast<Pixel>(k * 40503 >> 5);
      std::vector<Pixel *> table;
      for (int y = 0; y < 2 * rows; ++y) table.push_back(memory.data() + std::size_t(y) * columns);
      if (shuffled) std::shuffle(table.begin(), table.end(), std::mt19937(1));
      expected = memory;
      for (int y = 0; y < rows; ++y)
        for (int x = 0; x < columns; ++x)
          expected[static_cast<std::size_t>(table[rows + y] - memory.data()) + x] =
              static_cast<Pixel>(table[y][x] + 1);
      {
        gswo::Region region;
        const auto row = [&](int first) {
          return
              [&table, first](long long y) { return table[static_cast<std::size_t>(first + y)]; };
        };
        const gswo::Plane from =
            region.read("from", table.data(), 0, rows - 1, 0, columns - 1, row(0));
        const gswo::Plane to =
            region.write("to", table.data(), 0, rows - 1, 0, columns - 1, row(rows), true);
        emulated::device().add([=] {
          for (int y = 0; y < rows; ++y)
            for (int x = 0; x < columns; ++x) at(to, y, x) = static_cast<Pixel>(at(from, y, x) + 1);
        });
        region.launched("add");
      }
      EXPECT_EQ(memory, expected) << threads << (shuffled ? ", shuffled" : "");
    }
  unsetenv("GSWO_COPY_THREADS");
}

/// Another device may be current each time.
TEST(GswoRegion, ImagesAreCopiedFromAndToEachDevice) {
  std::vector<Pixel> memory(20000);
  for (std::size_t k = 0; k < memory.size(); ++k) memory[k] = static_cast<Pixel>(k * k);
  std::vector<Pixel> expected = memory;
  Picture a, b;
  for (int k = 0; k < 500; ++k) a.rows.push_back(10 * k + 2), b.rows.push_back(10000 + 10 * k);
  const Windows w{0, 1, -1, {0, 489, 0, kWidth - 1}, 1, 1, 1, 1, true};
  for (const int device : {0, 1, 0}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    run(expected, {a, b}, w);
    gswo::Region r;
    launch(r, memory, {a, b}, w);
  }
  EXPECT_EQ(memory, expected);
}

TEST(GswoRegion, MemoryOfOthersIsFreedIfThereIsNoMore) {
  gswo::Pool &pool = gswo::Pool::get();
  pool.release();
  emulated::device().most = emulated::device().used + (1 << 20);
  pool.give(pool.take(600000, "first"));
  const gswo::Block large = pool.take(900000, "second");
  EXPECT_TRUE(large.data);
  EXPECT_EXIT(pool.take(500000, "third"), testing::ExitedWithCode(1),
              "'third' needs 0.5 MB of device memory: out of memory");
  pool.give(large);
  pool.release();
  emulated::device().most = std::size_t(1) << 40;
}

}  // namespace
}  // namespace cudascan::gswo::test
