// SPDX-License-Identifier: LGPL-2.1-or-later
// On the CPU neighbouring windows share sums of samples if the order of the additions has no
// influence. Emulated CUDA adds in the order of the loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "filter.h"
#include "gswo_rt.h"

namespace cudascan::gswo::test {
namespace {

std::string source_of(const std::string &pixel, const std::string &body) {
  return "typedef " + pixel +
         " pixel;\nvoid f(pixel **in, pixel **out, int h, int w, int more = 2) {\n"
         "#pragma parallel\n  {\n#pragma for nest(2)\n    for (int y = 0; y < h; y++)\n"
         "      for (int x = 0; x < w; x++) {\n        float s = 0, t = 0.0f, u = 1;\n"
         "        short n = 0;\n" +
         body + "\n        out[y][x] = s + t + u + n;\n      }\n  }\n}\n";
}

/// `inner` in loops over 5x5 offsets.
std::string nest(const std::string &inner, const std::string &rows = "int dy = -2; dy <= 2; dy++",
                 const std::string &columns = "int dx = -2; dx <= 2; dx++") {
  return "for (" + rows + ")\n for (" + columns + ") " + inner;
}
const std::string kAdd = "s += in[y + dy][x + dx];";

/// How many loops gswo-cc replaces, and of how many rectangles.
std::pair<int, int> counts(const std::string &body) {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  write(path, source_of("float", body));
  const Outcome outcome = translate({path});
  EXPECT_EQ(outcome.status, 0) << body << "\n" << outcome.errors;
  const auto count = [&](const std::string &word) {
    int n = 0;
    for (auto at = outcome.output.find(word); at != std::string::npos;
         at = outcome.output.find(word, at + 1))
      ++n;
    return n;
  };
  return {count("GSWO_CPU_SUM("), count("gswo::Box<")};
}

TEST(GswoSums, AreShared) {
  for (const std::string &body :
       {nest(kAdd), nest("{ " + kAdd + " }"), nest("s += in[dy + y][x - dx];"),
        nest("t += (in[y + (dy + 1)][x + dx - 4]);"), "if (x > 3) " + nest(kAdd) + " else s = 1;",
        nest("s += in[y + dx][x + dy];"), nest(kAdd, "int dy = 1; dy < 9; ++dy"),
        nest("s += in[y + dy - 2][x + dx];", "int dy = 0; dy < 5; dy++"),
        "int a = 0; " + nest("a += in[y + dy][x + dx];") + " s = a;"})
    EXPECT_EQ(counts(body), std::pair(1, 1)) << body;
  EXPECT_EQ(counts(nest(kAdd) + nest("t += in[y + dy][x + dx];")), std::pair(2, 1));
  EXPECT_EQ(counts(nest(kAdd) + nest("t += in[y + dy][x + dx + 1];")), std::pair(2, 2));
}

TEST(GswoSums, OfOtherLoopsAreNot) {
  for (const std::string &body :
       {nest("u += in[y + dy][x + dx];"),
        nest("n += in[y + dy][x + dx];"),
        "s = 3; " + nest(kAdd),
        "s += x; " + nest(kAdd),
        "for (int k = 0; k < 2; k++) { " + nest(kAdd) + " }",
        "for (int k = 0; k < 2; k++) " + nest(kAdd),
        nest("s -= in[y + dy][x + dx];"),
        nest("s += in[y + dy][x + dx] * dx;"),
        nest("s += 2 * in[y + dy][x + dx];"),
        nest("s += in[y + dy][x + dx + dy];"),
        nest("s += in[y + dy][x + dy];"),
        nest("s += in[y + dy][x];"),
        nest("s += in[y + 2 * dy][x + dx];"),
        nest("s += in[y + dy][x + dx - dx];"),
        nest("s += in[y + dy][x + (dx < 0 ? -dx : dx)];"),
        nest(kAdd, "int dy = -2; dy <= 2; dy += 2"),
        nest(kAdd, "int dy = -more; dy <= more; dy++"),
        nest(kAdd, "int dy = -2; dy <= 2; dy++", "int dx = -2; dx <= dy; dx++"),
        nest(kAdd, "int dy = -1; dy <= 1; dy++", "int dx = -1; dx <= 1; dx++"),
        nest(kAdd, "int dy = 0; dy < 1; dy++", "int dx = 0; dx < 32; dx++"),
        nest("{ " + kAdd + " n++; }"),
        nest("if (dx) " + kAdd),
        nest("s += out[y + dy][x + dx];")})
    EXPECT_EQ(counts(body).first, 0) << body;
}

/// Programs only have code for the GPU.
TEST(GswoSums, AreNotInPrograms) {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  write(path, source_of("float", nest(kAdd)));
  const Outcome outcome = translate({"--emit", "standalone", path});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find("GSWO_CPU_SUM"), std::string::npos);
}

template <class Sums>
using ImageOf = typename Sums::template Image<::gswo::Inner<float, unsigned char>>;

/// Sums that do not fit the 24 bits of a float depend on the order of their additions.
TEST(GswoSums, AreExact) {
  using Square16 = ::gswo::Box<0, 15, -8, 7>;
  using Square17 = ::gswo::Box<-8, 8, -8, 8>;
  using Bytes = ImageOf<::gswo::Sums<float, unsigned char, 8, Square16, Square17>>;
  using Words = ImageOf<::gswo::Sums<float, unsigned short, 8, Square16, Square17>>;
  using Whole = ImageOf<::gswo::Sums<int, unsigned short, 8, Square17>>;
  EXPECT_TRUE(Bytes::is_exact<float>(0));
  EXPECT_TRUE(Bytes::is_exact<float>(1));
  EXPECT_TRUE(Words::is_exact<float>(0));
  EXPECT_FALSE(Words::is_exact<float>(1));
  EXPECT_FALSE(Words::is_exact<double>(1));
  EXPECT_TRUE(Whole::is_exact<int>(0));
  EXPECT_TRUE(Whole::is_exact<unsigned long long>(0));
  EXPECT_TRUE(Whole::is_exact<double>(0));
  EXPECT_FALSE(Whole::is_exact<float>(0));
  EXPECT_FALSE((::gswo::Sums<float, float, 8, Square16>::are_there));
  EXPECT_FALSE((::gswo::Sums<float, short, 8, Square16>::are_there));
}

/// Three rectangles, the last one of 289 samples: the lowest bits of the sums.
std::string three_sums(const std::string &pixel, const std::string &total, bool flat) {
  const auto add = [&](const std::string &name, const std::string &y, const std::string &x) {
    return name + " += " +
           (flat ? "in[(y + " + y + ") * w + x + " + x + "];\n"
                 : "in[y + " + y + "][x + " + x + "];\n");
  };
  const std::string in = flat ? "pixel *in, pixel *out" : "pixel **in, pixel **out";
  return "typedef " + pixel + " pixel;\nstatic const int radius = 8;\nvoid f(" + in +
         ", int h, int w) {\n#pragma parallel\n  {\n#pragma for nest(2)\n"
         "    for (int y = 1; y < h - 2; y++)\n      for (int x = 0; x < w - 1; x++) {\n        " +
         total + " a = 0, b = 0, c = 0;\n" +
         nest(add("a", "dy", "dx"), "int dy = -3; dy <= 1; dy++", "int dx = 0; dx < 4; dx++") +
         "        if ((x + y) % 3)\n" +
         nest(add("b", "k", "dx"), "int dx = -8; dx < 8; dx++", "int k = -7; k <= 8; k++") +
         "        else b = 7;\n" +
         nest(add("c", "dy", "dx"), "int dy = -radius; dy <= radius; dy++",
              "int dx = -radius; dx <= radius; dx++") +
         "        const " + total + " all = a + b + c;\n        out[" +
         (flat ? "y * w + x" : "y][x") + "] = all - 256 * (" + total + ")(int)(all / 256);\n" +
         "      }\n  }\n}\n";
}

/// The same by other means: in the order of the loops, and outside of the image the nearest pixel.
template <typename Sample, typename Total>
Picture naive(Picture in) {
  Picture out = in;
  const auto sum = [&](int y, int x, int y0, int y1, int x0, int x1, bool columns_first) {
    Total total = 0;
    const int rows = y1 - y0 + 1, columns = x1 - x0 + 1;
    for (int k = 0; k < rows * columns; ++k) {
      const int dy = y0 + (columns_first ? k % rows : k / columns),
                dx = x0 + (columns_first ? k / rows : k % columns);
      total += in.at<Sample>(std::clamp(x + dx, 0, in.width() - 1),
                             std::clamp(y + dy, 0, in.height() - 1));
    }
    return total;
  };
  for (int y = 1; y < in.height() - 2; ++y)
    for (int x = 0; x < in.width() - 1; ++x) {
      const Total b = (x + y) % 3 ? sum(y, x, -7, 8, -8, 7, true) : 7;
      const Total all = sum(y, x, -3, 1, 0, 3, false) + b + sum(y, x, -8, 8, -8, 8, false);
      out.at<Sample>(x, y) = static_cast<Sample>(all - 256 * static_cast<Total>(int(all / 256)));
    }
  return out;
}

template <typename Sample, typename Total>
void expect_sums(const std::string &text, const std::string &sample, unsigned lowest, bool fast) {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  write(path, text);
  const Filter filter({path, {}, sample, 0, fast});
  std::mt19937 random(1);
  const unsigned highest = std::numeric_limits<Sample>::max();
  for (const auto &[w, h] : {std::pair(1, 1), {2, 5}, {37, 23}, {1061, 19}}) {
    Picture in(w, h, sizeof(Sample));
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x)
        in.at<Sample>(x, y) = static_cast<Sample>(highest - random() % (highest - lowest + 1));
    Picture expected = naive<Sample, Total>(in);
    for (const bool emulated : {false, true}) {
      Picture result = filter.run(in, {}, emulated);
      for (int y = 0; y < h; ++y)
        for (int x = 0; x < w; ++x)
          ASSERT_EQ(result.at<Sample>(x, y), expected.at<Sample>(x, y))
              << w << "x" << h << " at " << x << "," << y << (emulated ? ", emulated" : ", CPU");
    }
  }
}

TEST(GswoSums, OfBytesHaveTheSameBits) {
  expect_sums<std::uint8_t, float>(three_sums("float", "float", false), "unsigned char", 0, true);
}
TEST(GswoSums, OfWordsHaveTheSameBits) {
  expect_sums<std::uint16_t, float>(three_sums("float", "float", false), "unsigned short", 60000,
                                    false);
}
TEST(GswoSums, OfWholeNumbersHaveTheSameBits) {
  expect_sums<std::uint16_t, int>(three_sums("unsigned short", "int", true), "unsigned short", 0,
                                  false);
}

}  // namespace
}  // namespace cudascan::gswo::test
