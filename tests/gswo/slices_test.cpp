// SPDX-License-Identifier: LGPL-2.1-or-later
// Volumes in regions, with an emulated device: random kernels on random slices of one memory give
// what they give without a device. And how pieces of images are copied.
#include <cstring>
#include <set>

#include "pictures.h"

namespace cudascan::gswo::test {
namespace {

namespace gswo = ::gswo;

/// A kernel: windows around each pixel of some slices, whose results go to other slices.
struct Windows {
  std::vector<int> from, to;  ///< images; slice k is made of from[k], from[k + 1], ...
  Area area;
  int up, down, left, right;
  bool all;  ///< every window writes

  int depth() const { return static_cast<int>(from.size() - to.size()); }
  template <class Read>
  bool result(int z, int y, int x, const Read &read, Pixel &value) const {
    unsigned sum = 7;
    for (int dz = 0; dz <= depth(); ++dz)
      for (int dy = -up; dy <= down; ++dy)
        for (int dx = -left; dx <= right; ++dx) sum = sum * 5 + read(z + dz, y + dy, x + dx);
    value = static_cast<Pixel>(sum ^ (sum >> 16));
    return all || value % 3;
  }
};

/// Calls use(k, y, x) for the pixels that are written.
template <class Use>
void each(const Windows &w, const Use &use) {
  for (int k = 0; k < static_cast<int>(w.to.size()); ++k)
    for (int y = w.area.y0; y <= w.area.y1; ++y)
      for (int x = w.area.x0; x <= w.area.x1; ++x) use(k, y, x);
}

/// Whether two windows write the same pixel.
bool collide(const std::vector<Picture> &pictures, const Windows &w, std::vector<Pixel> &memory) {
  std::set<const Pixel *> written;
  bool twice = false;
  each(w, [&](int k, int y, int x) {
    twice |= !written.insert(pictures[w.to[k]].row(memory, y) + x).second;
  });
  return twice;
}

Windows any_windows(std::mt19937 &random, const std::vector<Picture> &pictures,
                    std::vector<Pixel> &memory) {
  const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
  Windows w;
  do {
    // Mostly neighbouring slices in their order.
    const int depth = below(3), slices = 1 + below(4), images = static_cast<int>(pictures.size());
    const int from = below(images), to = below(images), step = below(8) ? 1 : images - 1;
    w.from.clear(), w.to.clear();
    for (int k = 0; k < slices + depth; ++k)
      w.from.push_back(below(12) ? (from + k * step) % images : below(images));
    for (int k = 0; k < slices; ++k)
      w.to.push_back(below(12) ? (to + k * step) % images : below(images));
    if (!below(4)) w.to.assign(w.from.begin(), w.from.begin() + slices);
    do w.area = any_area(random, std::min(kHeight, kWidth));
    while (w.area.empty());
    if (below(2)) w.area = {0, kHeight - 1, 0, kWidth - 1};
    for (int *reach : {&w.up, &w.down, &w.left, &w.right}) *reach = below(kMargin + 1);
    w.all = below(3);
  } while (collide(pictures, w, memory));
  return w;
}

/// Without a device: all windows see the images as they were before.
void run(std::vector<Pixel> &memory, const std::vector<Picture> &pictures, const Windows &w) {
  std::vector<Pixel> before = memory;
  each(w, [&](int k, int y, int x) {
    Pixel value = 0;
    if (w.result(
            k, y, x, [&](int z, int r, int c) { return pictures[w.from[z]].row(before, r)[c]; },
            value))
      pictures[w.to[k]].row(memory, y)[x] = value;
  });
}

/// A slice as a kernel finds it.
gswo::Plane slice_of(const gswo::Volume &v, int z) {
  if (z < v.oz || z >= v.oz + v.depth) ADD_FAILURE();
  gswo::Plane p = v.first;
  p.data = static_cast<char *>(p.data) +
           (v.offsets ? v.offsets[z - v.oz] : static_cast<long long>(v.distance) * (z - v.oz));
  return p;
}

void launch(gswo::Region &region, std::vector<Pixel> &memory, const std::vector<Picture> &pictures,
            const Windows &w, bool exact) {
  constexpr int kFirst = 3;  // number of the first slice
  const auto rows_of = [&](const std::vector<int> &images) {
    return [&](long long z, long long y) {
      return pictures[images[static_cast<std::size_t>(z - kFirst)]].row(memory,
                                                                        static_cast<int>(y));
    };
  };
  const auto last = [](const std::vector<int> &all) {
    return kFirst + static_cast<int>(all.size()) - 1;
  };
  const gswo::Volume from = region.read_volume(
      "from", &w.from, kFirst, last(w.from), w.area.y0 - w.up, w.area.y1 + w.down,
      w.area.x0 - w.left, w.area.x1 + w.right, rows_of(w.from), exact);
  const gswo::Volume to = region.write_volume("to", &w.to, kFirst, last(w.to), w.area.y0, w.area.y1,
                                              w.area.x0, w.area.x1, rows_of(w.to), w.all);
  emulated::device().add([=] {
    each(w, [&](int k, int y, int x) {
      Pixel value = 0;
      if (w.result(
              k, y, x, [&](int z, int r, int c) { return at(slice_of(from, kFirst + z), r, c); },
              value))
        at(slice_of(to, kFirst + k), y, x) = value;
    });
  });
  region.launched("windows");
}

TEST(GswoSlices, RandomKernelsGiveTheSame) {
  for (unsigned seed = 0; seed < 400; ++seed) {
    std::mt19937 random(seed);
    const bool apart = random() % 3;  // pictures that share no memory
    std::vector<Pixel> expected(apart ? 1600 : 700), memory;
    for (Pixel &p : expected) p = static_cast<Pixel>(random());
    memory = expected;
    std::vector<Picture> pictures;
    for (int k = 0; k < 8; ++k) {
      pictures.push_back(any_picture(random, memory.size()));
      if (!apart) continue;
      // Some are slices of an array, in order.
      for (std::size_t y = 0; y < pictures[k].rows.size(); ++y)
        pictures[k].rows[y] = 200 * k + 14 * static_cast<int>(seed % 2 && k == 5 ? 11 - y : y) + 2;
    }
    for (int regions = 0; regions < 2; ++regions) {
      {
        gswo::Region region;
        for (int turn = 0; turn < 10; ++turn) {
          const Windows w = any_windows(random, pictures, memory);
          run(expected, pictures, w);
          launch(region, memory, pictures, w, random() % 2);
          const unsigned what = static_cast<unsigned>(random());
          if (what % 8 == 0) {
            gswo::host_changes();
            for (auto *m : {&memory, &expected})
              for (std::size_t k = 0; k < m->size(); k += 5 + what % 7) (*m)[k] ^= what;
          } else if (what % 8 == 1) {
            gswo::host_reads();
            ASSERT_EQ(memory, expected) << seed << ", " << turn;
          }
        }
      }
      ASSERT_EQ(memory, expected) << seed;
    }
  }
}

/// A volume in one array.
struct Array {
  int width, height, depth;
  std::vector<Pixel> pixels = std::vector<Pixel>(static_cast<std::size_t>(width * height * depth));
  auto rows() {
    return gswo::equal([this](long long z, long long y) {
      return &pixels[static_cast<std::size_t>((z * height + y) * width)];
    });
  }
  gswo::Volume read(gswo::Region &region) {
    return region.read_volume("a", pixels.data(), 0, depth - 1, 0, height - 1, 0, width - 1,
                              rows());
  }
};

TEST(GswoSlices, NewPixelsAreNotOverwrittenByOthers) {
  constexpr int kWidth = 100, kHeight = 5, kDepth = 4, kNew = 10;
  Array from{kWidth, kHeight, kDepth}, to{kWidth, kHeight, kDepth};
  for (std::size_t k = 0; k < from.pixels.size(); ++k)
    from.pixels[k] = static_cast<Pixel>(k * 7 + 1);
  std::vector<Pixel> expected = from.pixels;
  for (std::size_t k = 0; k < expected.size(); ++k)
    expected[k] = static_cast<Pixel>(k % kWidth < kNew ? 4 : expected[k] + 1);
  {
    gswo::Region region;
    // The first columns are new on the device, the others come from the host.
    const gswo::Volume columns = region.write_volume("a", from.pixels.data(), 0, kDepth - 1, 0,
                                                     kHeight - 1, 0, kNew - 1, from.rows(), true);
    emulated::device().add([=] {
      for (int z = 0; z < kDepth; ++z)
        for (int y = 0; y < kHeight; ++y)
          for (int x = 0; x < kNew; ++x) at(slice_of(columns, z), y, x) = 3;
    });
    region.launched("columns");
    const gswo::Volume in = from.read(region),
                       out = region.write_volume("b", to.pixels.data(), 0, kDepth - 1, 0,
                                                 kHeight - 1, 0, kWidth - 1, to.rows(), true);
    emulated::device().add([=] {
      for (int z = 0; z < kDepth; ++z)
        for (int y = 0; y < kHeight; ++y)
          for (int x = 0; x < kWidth; ++x)
            at(slice_of(out, z), y, x) = static_cast<Pixel>(at(slice_of(in, z), y, x) + 1);
    });
    region.launched("all");
  }
  EXPECT_EQ(to.pixels, expected);
}

TEST(GswoSlices, StepsNeedTwoAllocationsAndNoList) {
  Array a{40, 30, 20}, b{40, 30, 20};
  gswo::Pool::get().release();
  const long long before = gswo::counts().allocations, moved = emulated::device().on_device;
  {
    gswo::Region region;
    for (int k = 0; k < 6; ++k) {
      Array &from = k % 2 ? b : a, &to = k % 2 ? a : b;
      const gswo::Volume in = from.read(region),
                         out = region.write_volume("b", to.pixels.data(), 1, 18, 1, 28, 1, 38,
                                                   to.rows(), true);
      EXPECT_EQ(in.offsets, nullptr) << k;
      EXPECT_EQ(out.offsets, nullptr) << k;
      EXPECT_EQ(in.distance, out.distance);
      region.launched("step");
    }
  }
  EXPECT_EQ(gswo::counts().allocations - before, 2);
  EXPECT_EQ(emulated::device().on_device, moved) << "no copies on the device";
}

/// The device's memory, the buffer and the host's rows of pieces, copied by a plan.
TEST(GswoPieces, EachRowIsCopiedOnce) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::size_t n) { return static_cast<int>(random() % n); };
    std::vector<char> device(20000);
    std::vector<gswo::Piece> pieces;
    std::vector<char> owner(device.size(), 0);  // 1: a row of a piece, 2: may be copied along
    const int bytes = 1 + below(40), gap = below(3) ? below(8) : 40 + below(40), rows = below(9);
    const int pitch = bytes + gap, distance = pitch * (rows + below(3)) + below(2);
    std::size_t at = 0;
    for (int k = 0; k < 12 && at + pitch * (rows + 4) + 100 < device.size(); ++k) {
      gswo::Piece p{device.data() + at, static_cast<std::size_t>(pitch),
                    below(6) ? rows : below(rows + 3), static_cast<std::size_t>(bytes)};
      const std::size_t end = at + std::max(distance, pitch * p.rows);
      if (below(4)) p.low = device.data() + at, p.high = device.data() + end;
      if (p.low) std::fill(owner.begin() + at, owner.begin() + end, 2);
      for (int y = 0; y < p.rows; ++y) std::fill_n(owner.begin() + at + y * pitch, bytes, 1);
      pieces.push_back(p);
      at = end + (below(4) ? 0 : 30 + below(300));
    }
    const std::size_t capacity = bytes + below(600);
    const gswo::CopyPlan plan(pieces, capacity);
    std::vector<int> copied(device.size(), 0);
    std::size_t run = 0, group = 0;
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      EXPECT_EQ(plan.begin_of(part).run_end, run);
      EXPECT_EQ(plan.begin_of(part).group_end, group);
      // What the buffer has: the device's address of each byte.
      std::vector<const char *> buffer(capacity, nullptr);
      for (; group < plan.parts[part].group_end; ++group) {
        const auto &g = plan.groups[group];
        const int runs = g.is_linear ? 1 : g.runs, n = g.is_linear ? 1 : g.rows;
        std::size_t to = g.offset;
        for (int r = 0; r < runs; ++r)
          for (int y = 0; y < n; ++y)
            for (std::size_t b = 0; b < g.bytes; ++b) {
              const char *const from =
                  g.device + r * g.distance + y * static_cast<std::ptrdiff_t>(g.pitch) + b;
              ASSERT_LT(to, capacity) << seed;
              ASSERT_EQ(buffer[to], nullptr) << seed;
              ASSERT_NE(owner[from - device.data()], 0) << seed << ": belongs to others";
              buffer[to++] = from;
              copied[from - device.data()]++;
            }
      }
      for (; run < plan.parts[part].run_end; ++run) {
        const auto &r = plan.runs[run];
        for (int y = 0; y < r.rows; ++y)
          for (std::size_t b = 0; b < r.bytes; ++b)
            ASSERT_EQ(buffer[r.offset + y * r.step + b],
                      pieces[r.piece].device + (r.first + y) * pieces[r.piece].pitch + b)
                << seed;
      }
    }
    EXPECT_EQ(run, plan.runs.size());
    EXPECT_EQ(group, plan.groups.size());
    for (std::size_t k = 0; k < copied.size(); ++k)
      ASSERT_TRUE(owner[k] == 1 ? copied[k] == 1 : copied[k] <= (owner[k] == 2)) << seed;
  }
}

TEST(GswoPieces, FewCopies) {
  std::vector<char> device(1 << 20);
  // Slices one after the other, whose inner pixels are copied: a single copy.
  std::vector<gswo::Piece> slices, strips;
  for (int z = 0; z < 16; ++z) {
    char *const slice = device.data() + z * 64 * 64;
    slices.push_back({slice + 65, 64, 62, 62, slice, slice + 64 * 64});
    strips.push_back({slice, 64, 64, 1});
  }
  const gswo::CopyPlan plan(slices, 1 << 20);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_TRUE(plan.groups[0].is_linear);
  EXPECT_EQ(plan.groups[0].bytes, 16u * 64 * 64 - 65 * 2);
  // The first columns of all of them are one as well.
  const gswo::CopyPlan columns(strips, 1 << 20);
  ASSERT_EQ(columns.groups.size(), 1u);
  EXPECT_FALSE(columns.groups[0].is_linear);
  EXPECT_EQ(columns.groups[0].runs, 16);
  EXPECT_EQ(columns.groups[0].distance, 64 * 64);
  // Nobody may write between the rows of these.
  for (gswo::Piece &p : slices) p.low = p.high = nullptr;
  EXPECT_FALSE(gswo::CopyPlan(slices, 1 << 20).groups[0].is_linear);
}

}  // namespace
}  // namespace cudascan::gswo::test
