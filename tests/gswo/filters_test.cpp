// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares translated filters with the user's own function. The function is compiled unchanged and
// runs on an image with a margin of border pixels. The filters run on the CPU and as emulated CUDA.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "filter_cases.h"

namespace cudascan::gswo::test {
namespace {

class Translated : public testing::TestWithParam<Case> {};

TEST_P(Translated, GivesThePixelsOfTheUsersFunction) {
  const Case &c = GetParam();
  const Folder folder;
  const bool is_c = c.source.back() == 'c';
  const std::string plain = folder / (is_c ? "plain.c" : "plain.cpp");
  ASSERT_EQ(translate({source(c.source), "--emit", "plain", "-o", plain}).status, 0);
  Library user(plain, {"-ffp-contract=off", "-w", "-x", is_c ? "c" : "c++"}, folder);
  const std::size_t size = c.pixel == "unsigned char" ? 1 : 2;
  for (const int border : c.borders) {
    const Filter filter({c.source, c.options, c.pixel, border, c.optimised && border == 0});
    std::mt19937 random(1);
    for (const auto &[w, h] : {std::pair(1, 1), {3, 2}, {37, 23}, {149, 71}, {601, 19}})
      for (const Values &values : c.values) {
        if (std::max(w, h) > c.most_columns) continue;
        Picture picture(w, h, size);
        for (int y = 0; y < h; ++y)
          for (int x = 0; x < w; ++x) {
            const unsigned value = random() % (size == 1 ? 256 : 65536);
            size == 1 ? void(picture.at<U8>(x, y) = value) : void(picture.at<U16>(x, y) = value);
          }
        Picture expected = c.expected({&user, w, h, values}, picture, border);
        for (const bool emulated : {false, true}) {
          Picture result = filter.run(picture, values, emulated);
          int wrong = 0;
          for (int y = 0; y < h && wrong < 5; ++y)
            for (int x = 0; x < w && wrong < 5; ++x) {
              const int is = size == 1 ? result.at<U8>(x, y) : result.at<U16>(x, y);
              const int should = size == 1 ? expected.at<U8>(x, y) : expected.at<U16>(x, y);
              if (is != should) ++wrong;
              EXPECT_EQ(is, should)
                  << c.name << ", border " << border << ", " << w << "x" << h << " at " << x << ","
                  << y << (emulated ? ", emulated" : ", CPU");
            }
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Gswo, Translated, testing::ValuesIn(cases()),
                         [](const auto &info) { return info.param.name; });

TEST(GswoExamples, OfThePaperAreTranslated) {
  int number = 0;
  for (const auto &entry : std::filesystem::directory_iterator(GSWO_EXAMPLES)) {
    if (entry.path().extension() != ".cpp") continue;
    ++number;
    for (const char *emit : {"kernel", "standalone"}) {
      const Outcome outcome =
          translate({entry.path(), "--set", "window=3", "--strict", "--emit", emit});
      EXPECT_EQ(outcome.status, 0) << entry.path() << "\n" << outcome.errors;
    }
  }
  EXPECT_GE(number, 18);
}

TEST(GswoExamples, TheirProgramsCopyWhatTheyRead) {
  const auto program = [](const std::string &name) {
    const Outcome outcome =
        translate({GSWO_EXAMPLES "/" + name + ".cpp", "--set", "window=5", "--set",
                   "window_width=5", "--set", "window_height=5", "--emit", "standalone"});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.output;
  };
  const std::string left_out =
      "(\"in\", in, std::max(0LL, g_top - 2), "
      "std::min<long long>((long long)height - 1, g_bottom + 2), "
      "std::max(0LL, g_left - 2), std::min<long long>((long long)width - 1, g_right + 2)";
  for (const char *name : {"mean", "standard_deviation", "opening", "closing"})
    EXPECT_NE(program(name).find(left_out), std::string::npos) << name;
  for (const char *name : {"min", "erosion"})
    EXPECT_NE(program(name).find("(\"in\", in, g_top - 2, g_bottom + 2, g_left - 2, g_right + 2,"),
              std::string::npos)
        << name;
}

}  // namespace
}  // namespace cudascan::gswo::test
