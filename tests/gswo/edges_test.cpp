// SPDX-License-Identifier: LGPL-2.1-or-later
// gswo-cc decides conditions for windows inside the image at compile time, but only conditions
// about edges. The tests of all other filters check that pixels stay the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "filter.h"

namespace cudascan::gswo::test {
namespace {

/// A filter whose windows read rows -2 to 1 and columns -1 to 1, and more samples if `question` is
/// true.
std::string source_of(const std::string &question) {
  return "void f(float **in, float **out, int h, int w, int more) {\n#pragma parallel\n  {\n"
         "#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n      for (int x = 0; x < w; x++) "
         "{\n"
         "        float sum = h + w + in[y - 2][x - 1] + in[y + 1][x + 1];\n"
         "        for (int k = -1; k <= 1; k++)\n          if (" +
         question + ") sum += in[y + k][x + k];\n        out[y][x] = sum;\n      }\n  }\n}\n";
}

/// What gswo-cc replaces the condition with, or "" if it keeps the condition.
std::string answer(const std::string &question) {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  write(path, source_of(question));
  const Outcome outcome = translate({path});
  EXPECT_EQ(outcome.status, 0) << question << "\n" << outcome.errors;
  for (const std::string known : {"true", "false"})
    if (outcome.output.find("if (GSWO_INNER(" + known + ", " + question + "))") !=
        std::string::npos)
      return known;
  EXPECT_EQ(outcome.output.find("GSWO_INNER"), std::string::npos) << question;
  return "";
}

TEST(GswoEdges, QuestionsAreAnswered) {
  for (const char *question :
       {"y >= 0", "y + k >= 0", "y - 2 >= 0", "y + 1 < h", "x + k < w", "0 <= y - k", "-1 < x + k",
        "x <= w - 2", "w - 1 > x", "h > y + k", "y - 1 >= 1", "w - x >= 2", "x + 1 <= w - 1"})
    EXPECT_EQ(answer(question), "true") << question;
  for (const char *question :
       {"y + k < 0", "y + k >= h", "x + 1 >= w", "0 > x - 1", "w <= x + k", "y - 2 < 0"})
    EXPECT_EQ(answer(question), "false") << question;
}

TEST(GswoEdges, OthersAreNot) {
  for (const char *question :
       {"y - 3 >= 0", "y > 2", "x + 2 < w", "y + 2 < h", "x >= 2", "y + k < w", "x < h", "y < x",
        "y + k == 0", "y >= more", "x + more < w", "2 * y >= 0", "x + y >= 0", "y / 2 >= 0",
        "(unsigned)y < (unsigned)h", "x < w / 2", "k < 1", "sum > 0", "w - x > 2"})
    EXPECT_EQ(answer(question), "") << question;
}

/// A wide window must not nest deeper than compilers allow.
TEST(GswoEdges, WindowsMayBeWide) {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  write(
      path,
      "void f(int **in, int **out, int h, int w, int r) {\n#pragma parallel\n  {\n"
      "#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n      for (int x = 0; x < w; x++) {\n"
      "        int most = 0;\n        for (int dx = -r; dx <= r; dx++) {\n"
      "          int at = x + dx;\n          if (at < 0) at = 0;\n"
      "          if (at >= w) at = w - 1;\n          if (in[y][at] > most) most = in[y][at];\n"
      "        }\n        out[y][x] = most;\n      }\n  }\n}\n");
  const Filter filter({path, {"--set", "r=600"}, "unsigned char", 4});
  Picture picture(5, 1, 1);
  for (int x = 0; x < 5; ++x) picture.at<unsigned char>(x, 0) = static_cast<unsigned char>(10 + x);
  for (const bool emulated : {false, true}) {
    Picture result = filter.run(picture, {}, emulated);
    for (int x = 0; x < 5; ++x) EXPECT_EQ(result.at<unsigned char>(x, 0), 14) << x << emulated;
  }
}

}  // namespace
}  // namespace cudascan::gswo::test
