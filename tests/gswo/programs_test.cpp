// SPDX-License-Identifier: LGPL-2.1-or-later
// Stand-alone programs, with an emulated device, do what their sources do without pragmas, and copy
// no more than they have to.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

#include "program.h"

namespace cudascan::gswo::test {
namespace {

using Pixel = std::uint16_t;

const Program &regions() {
  static const Program program(source("regions.cpp"));
  return program;
}

constexpr int kWidth = 41, kHeight = 23, kMargin = 2, kPitch = kWidth + 2 * kMargin;
constexpr long long kBytes = kWidth * kHeight * 2;

/// Images with a margin, all in one memory.
struct Images {
  explicit Images(int count, unsigned seed = 1, bool shuffled = false)
      : memory(static_cast<std::size_t>(count) * kPitch * (kHeight + 2 * kMargin)) {
    std::mt19937 random(seed);
    for (Pixel &p : memory) p = static_cast<Pixel>(random());
    std::vector<int> order(memory.size() / kPitch);
    for (std::size_t k = 0; k < order.size(); ++k) order[k] = static_cast<int>(k);
    if (shuffled) std::shuffle(order.begin(), order.end(), random);
    for (const int k : order) rows.push_back(memory.data() + k * kPitch + kMargin);
  }
  Images(const Images &) = delete;
  Pixel **table(int image) { return rows.data() + image * (kHeight + 2 * kMargin) + kMargin; }
  Pixel *flat(int image) {
    return memory.data() + static_cast<std::ptrdiff_t>(image) * kPitch * (kHeight + 2 * kMargin);
  }

  std::vector<Pixel> memory;
  std::vector<Pixel *> rows;
};

/// Runs a function in both forms on the same images. @return what the translated one did
template <class Function, class Call>
Costs compare(const std::string &name, int count, const Call &call, bool shuffled = false) {
  Images expected(count, 1, shuffled), is(count, 1, shuffled);
  const auto run = [&](bool cuda, Images &images) {
    return call(*regions().form(cuda).function<Function>(name), images);
  };
  const int result = run(false, expected);
  int found = 0;
  const Costs costs = regions().costs_of([&] { found = run(true, is); });
  EXPECT_EQ(found, result) << name;
  EXPECT_EQ(is.memory, expected.memory) << name;
  return costs;
}

using Flat3 = void(const Pixel *, Pixel *, Pixel *, int, int);
using Flat2 = void(Pixel *, Pixel *, int, int, int);
using Rows2 = void(Pixel **, Pixel **, int, int, int);
using CountedRows2 = int(Pixel **, Pixel **, int, int, int);

template <class Function>
Costs compare_rows(const std::string &name, int last, bool shuffled = false) {
  return compare<Function>(
      name, 2,
      [&](Function &f, Images &i) {
        if constexpr (std::is_same_v<Function, Rows2>)
          return f(i.table(0), i.table(1), kWidth, kHeight, last), 0;
        else
          return f(i.table(0), i.table(1), kWidth, kHeight, last);
      },
      shuffled);
}
Costs compare_flat(const std::string &name, int last) {
  return compare<Flat2>(name, 2, [&](Flat2 &f, Images &i) {
    return f(i.flat(0), i.flat(1), kWidth, kHeight, last), 0;
  });
}

TEST(GswoPrograms, CopyImagesOnceForARegion) {
  const auto call = [](Flat3 &f, Images &i) {
    return f(i.flat(0), i.flat(1), i.flat(2), kWidth, kHeight), 0;
  };
  const Costs costs = compare<Flat3>("two_kernels", 3, call);
  EXPECT_EQ(costs.launches, 2);
  EXPECT_EQ(costs.up, 1);
  EXPECT_EQ(costs.down, 2);
  EXPECT_EQ(costs.up_bytes, kBytes);
  EXPECT_EQ(costs.down_bytes, kBytes + (kWidth - 2) * (kHeight - 2) * 2);
  EXPECT_EQ(compare<Flat3>("two_kernels", 3, call).mallocs, 0) << "memory is kept";
}

TEST(GswoPrograms, DoNotCopyScratchImagesBack) {
  Images expected(3), is(3);
  const auto run = [&](bool cuda, Images &i) {
    regions().form(cuda).function<Flat3>("scratch")(i.flat(0), i.flat(1), i.flat(2), kWidth,
                                                    kHeight);
  };
  run(false, expected);
  const std::vector<Pixel> before(is.flat(1), is.flat(2));
  const Costs costs = regions().costs_of([&] { run(true, is); });
  EXPECT_EQ(std::vector<Pixel>(is.flat(1), is.flat(2)), before);
  std::copy(expected.flat(1), expected.flat(2), is.flat(1));
  EXPECT_EQ(is.memory, expected.memory);
  EXPECT_EQ(costs.up, 1);
  EXPECT_EQ(costs.down, 1);
}

TEST(GswoPrograms, KeepImagesInLoops) {
  for (const int turns : {0, 1, 2, 7}) {
    const Costs costs = compare_rows<Rows2>("exchanged", turns);
    EXPECT_EQ(costs.launches, turns);
    EXPECT_EQ(costs.down, std::min(turns, 2));
    // The first image with its margin, then four sides of the other one's.
    EXPECT_EQ(costs.up, turns == 0 ? 0 : turns == 1 ? 1 : 5);
  }
  compare_rows<Rows2>("exchanged", 5, true);
  for (const bool shuffled : {false, true}) {
    const Costs few = compare_rows<Rows2>("crossed", 2, shuffled),
                many = compare_rows<Rows2>("crossed", 9, shuffled);
    EXPECT_EQ(few.up, many.up);
    EXPECT_EQ(few.down, 2);
    EXPECT_EQ(many.down, 2);
  }
}

TEST(GswoPrograms, ShareRowsOfHostMemory) {
  // The same image twice, and images that share rows.
  for (const int shift : {0, 1, 5}) {
    const auto call = [&](Rows2 &f, Images &i) {
      return f(i.table(0), i.table(0) + shift, kWidth, kHeight - 5, 1), 0;
    };
    Images expected(2), is(2);
    // Without pragmas each window would see results of others: windows see the image as it was.
    std::vector<Pixel> before = expected.memory;
    const auto old = [&](int y, int x) {
      return before[static_cast<std::size_t>((y + kMargin) * kPitch + x + kMargin)];
    };
    for (int y = 0; y < kHeight - 5; ++y)
      for (int x = 0; x < kWidth; ++x)
        expected.table(0)[y + shift][x] =
            static_cast<Pixel>(old(y - 1, x - 1) * 3 + old(y + 1, x + 1) * 5 + old(y, x) * 7 + 1);
    call(*regions().form(true).function<Rows2>("exchanged"), is);
    EXPECT_EQ(is.memory, expected.memory) << shift;
  }
}

TEST(GswoPrograms, CopyBackWhatHostCodeReads) {
  const Costs costs =
      compare<int(Pixel **, Pixel **, int, int)>("until_equal", 2, [](auto &f, Images &i) {
        for (int y = -kMargin; y < kHeight + kMargin; ++y)
          for (int x = -kMargin; x < kWidth + kMargin; ++x) i.table(0)[y][x] %= 50;
        return f(i.table(0), i.table(1), kWidth, kHeight);
      });
  EXPECT_GT(costs.launches, 2);
  EXPECT_EQ(costs.down, costs.launches);
  EXPECT_LE(costs.up, 3) << "reading changes nothing";
}

TEST(GswoPrograms, SeeWhatHostCodeChanges) {
  for (const int turns : {1, 2, 6}) compare_flat("changed", turns);
}

TEST(GswoPrograms, KeepImagesInCalls) {
  for (const int turns : {1, 8}) {
    const Costs costs = compare_rows<Rows2>("calls", turns);
    EXPECT_EQ(costs.launches, 2 * turns);
    EXPECT_EQ(costs.down, 2);
    EXPECT_LE(costs.up, 5);
  }
  for (const int turns : {1, 2, 5}) {
    compare_rows<CountedRows2>("calls_unknown", turns);
    compare_rows<CountedRows2>("calls_prepared", turns);
  }
}

TEST(GswoPrograms, MayLeaveARegion) {
  for (const int how : {0, 1, 2}) compare_rows<CountedRows2>("leaves", how);
  compare_rows<CountedRows2>("leaves", 0);
}

TEST(GswoPrograms, ForgetImagesThatNoLongerExist) {
  for (const int turns : {1, 3}) {
    const Costs costs = compare_flat("local_images", turns);
    EXPECT_EQ(costs.launches, 3 * turns);
  }
}

TEST(GswoPrograms, WritePartsOfImages) {
  for (const int bands : {1, 2, 5}) {
    const Costs costs = compare_flat("bands", bands);
    EXPECT_EQ(costs.down, 1);
    EXPECT_EQ(costs.down_bytes, kBytes);
    EXPECT_EQ(costs.up_bytes, 2 * kBytes);
  }
}

/// The output of an example in both forms, and what the translated one did.
template <class Function, class Call>
Costs compare_example(const std::string &name, const std::string &symbol, int count,
                      const Call &call) {
  const Program program(GSWO_EXAMPLES "/" + name + ".cpp");
  Images expected(count), is(count);
  for (Images *images : {&expected, &is}) {
    for (Pixel &p : images->memory) p = p % 300 < 250 ? 0 : p % 256;
    std::fill(images->memory.begin() + images->memory.size() / count, images->memory.end(), 0);
  }
  call(*program.form(false).function<Function>(symbol), expected);
  const Costs costs =
      program.costs_of([&] { call(*program.form(true).function<Function>(symbol), is); });
  EXPECT_TRUE(std::equal(expected.flat(count - 1), expected.flat(count), is.flat(count - 1)))
      << name;
  return costs;
}

TEST(GswoPrograms, ThinningCopiesOnePictureEachWay) {
  using Thinning = void(Pixel **, Pixel **, Pixel **, Pixel **, int, int, int, int);
  const Costs costs = compare_example<Thinning>(
      "thinning", "_Z8thinningPPtS0_S0_S0_iiii", 4, [](Thinning &f, Images &i) {
        f(i.table(0), i.table(1), i.table(2), i.table(3), kWidth, kHeight, 16, 255);
      });
  EXPECT_EQ(costs.launches, 34);
  EXPECT_EQ(costs.down, 1);
  EXPECT_EQ(costs.down_bytes, kBytes);
  EXPECT_EQ(costs.up_bytes, kBytes + 2 * 2 * (2 * (kWidth + 2) + 2 * kHeight));  // and margins
}

TEST(GswoPrograms, ThinningEndsWhenNothingChanges) {
  using Thinning = int(Pixel **, Pixel **, Pixel **, Pixel **, int, int, int);
  int passes = 0;
  const Costs costs = compare_example<Thinning>(
      "programs/thinning_until_stable", "_Z21thinning_until_stablePPtS0_S0_S0_iii", 4,
      [&](Thinning &f, Images &i) {
        for (int y = 3; y < 17; ++y) std::fill_n(i.table(0)[y] + 4, 30, Pixel(200));
        passes = f(i.table(0), i.table(1), i.table(2), i.table(3), kWidth, kHeight, 255);
        // It has lines only: another call changes nothing.
        std::vector<Pixel> before(i.flat(3), i.flat(3) + i.memory.size() / 4);
        EXPECT_EQ(f(i.table(3), i.table(1), i.table(2), i.table(3), kWidth, kHeight, 255), 1);
        EXPECT_TRUE(std::equal(before.begin(), before.end(), i.flat(3)));
      });
  EXPECT_GT(passes, 5);
  EXPECT_EQ(costs.launches, 2 * (passes + 1) + 4);
  // A picture each way in each call, and a number after each step.
  EXPECT_EQ(costs.down_bytes, 2 * kBytes + 4 * 2 * (passes + 1));
}

TEST(GswoPrograms, RecursiveErosionCopiesOnePictureEachWay) {
  using Erosion = void(const Pixel *, Pixel *, Pixel *, Pixel *, int, int, int, int);
  const Costs costs = compare_example<Erosion>(
      "recursive_erosion", "_Z17recursive_erosionPKtPtS1_S1_iiii", 4, [](Erosion &f, Images &i) {
        f(i.flat(0), i.flat(1), i.flat(2), i.flat(3), kWidth, kHeight, 5, 6);
      });
  EXPECT_EQ(costs.launches, 15);
  EXPECT_EQ(costs.up, 1);
  EXPECT_EQ(costs.down, 1);
}

TEST(GswoPrograms, MemoryPragmasSayWhatIsCopied) {
  using Fingerprint = void(const Pixel *, Pixel *, Pixel *, int, int, int, int);
  const Costs costs = compare_example<Fingerprint>(
      "camera_fingerprint", "_Z18camera_fingerprintPKtPtS1_iiii", 3, [](Fingerprint &f, Images &i) {
        f(i.flat(0), i.flat(1), i.flat(2), kWidth, kHeight, 4, 255);
      });
  EXPECT_EQ(costs.launches, 5);
  EXPECT_EQ(costs.mallocs, 3);
  EXPECT_EQ(costs.up, 1);
  EXPECT_EQ(costs.down, 1);
}

TEST(GswoPrograms, SayWhenMemoryIsShort) {
  auto *const limit = regions().form(true).function<void(long long)>("emulated_limit");
  Images large(60);
  const auto big = [&] {
    regions().form(true).function<Flat3>("two_kernels")(large.flat(0), large.flat(20),
                                                        large.flat(40), 1000, 20);
  };
  EXPECT_EXIT((limit(4096), big()), testing::ExitedWithCode(1),
              "needs 0.0 MB of device memory: out of memory");
}

}  // namespace
}  // namespace cudascan::gswo::test
