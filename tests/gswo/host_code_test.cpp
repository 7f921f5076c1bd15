// SPDX-License-Identifier: LGPL-2.1-or-later
// Which host code in a region gswo-cc announces as reading or changing images.
#include <gtest/gtest.h>

#include "tool.h"

namespace cudascan::gswo::test {
namespace {

constexpr char kBefore[] = R"(
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <utility>
#include <vector>
typedef unsigned short pixel;
struct Size { int width; pixel level; };
)";

/// A region in a loop with some host code after its kernel.
std::string function_of(const std::string &code, std::size_t number) {
  return "void f" + std::to_string(number) +
         "(pixel **in, pixel **out, pixel *flat, int *numbers, Size *size, int h, int w,\n"
         "        int &count, pixel &level) {\n"
         "  int n = 0;\n#pragma parallel region\n  {\n"
         "    for (int turn = 0; turn < 5; turn++) {\n#pragma parallel\n      {\n"
         "#pragma for nest(2)\n        for (int y = 0; y < h; y++)\n"
         "          for (int x = 0; x < w; x++) out[y][x] = in[y][x] + flat[y * w + x];\n      }\n"
         "      /* here " +
         std::to_string(number) + " */ " + code + "\n    }\n  }\n}\n";
}

/// Expects one announcement for each piece of code: "reads", "changes" or ""; "?" if images are not
/// kept at all.
void expect(const std::string &announced, const std::vector<std::string> &codes,
            const std::string &functions = "") {
  const Folder folder;
  const std::string path = folder / "f.cpp";
  std::string source = kBefore + functions + "\n";
  for (std::size_t k = 0; k < codes.size(); ++k) source += function_of(codes[k], k);
  write(path, source);
  const Outcome outcome = translate({path, "--emit", "standalone"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  const std::string &text = outcome.output;
  for (std::size_t k = 0; k < codes.size(); ++k) {
    const auto here = text.find("/* here " + std::to_string(k) + " */");
    ASSERT_NE(here, std::string::npos);
    const std::string part = text.substr(here, text.find("\n    }\n  }\n}", here) - here);
    const auto region = text.rfind("gswo::Region g_region;", here);
    const bool kept = text.compare(region + 22, 5, "\n    ") == 0;
    const bool reads = part.find("gswo::host_reads()") != std::string::npos,
               changes = part.find("gswo::host_changes()") != std::string::npos;
    EXPECT_EQ(!kept ? "?" : changes ? "changes" : reads ? "reads" : "", announced) << codes[k];
  }
}

TEST(GswoHostCode, NumbersAndPointersAreFree) {
  expect("", {"n++;",
              "n = turn * 2 + w;",
              "if (n > 3) break;",
              "pixel **t = in; in = out; out = t;",
              "std::swap(in, out);",
              "flat += w;",
              "flat = &in[1][0];",
              "pixel *row = out[0]; flat = row;",
              "n = std::max(n, 3);",
              "const double r = std::sqrt(2.0 * n);",
              "printf(\"turn %d\\n\", n);",
              "std::cout << \"turn \" << n << std::endl;",
              "n = size->width;",
              "numbers[n] = numbers[0];",
              "count = 5;",
              "const int steps[] = {1, 2, 4}; n = steps[turn % 3];",
              "const auto now = std::chrono::steady_clock::now();",
              "n = sizeof(in[0][0]);",
              "std::vector<int> sums(5); n = sums.size();",
              "for (int k = 0; k < 3; k++) n += k;"});
}

TEST(GswoHostCode, ReadsAreAnnounced) {
  expect("reads", {"n = in[0][0];", "n += flat[5] + 1;", "n = *flat;", "n = (*out)[1];",
                   "if (in[1][2]) n = 3;", "n = level;", "n = size->level;",
                   "for (int k = 0; k < w; k++) n += out[0][k];"});
}

TEST(GswoHostCode, ChangesAreAnnounced) {
  expect("changes",
         {"in[0][0] = 1;", "flat[3]++;", "*flat = 2;", "std::swap(in[0][0], in[1][1]);",
          "std::memset(flat, 0, 4);", "std::fill(flat, flat + 4, 0);", "level = 3;",
          "size->level = 4;", "size[0] = size[1];", "delete[] flat;",
          "auto g = [=] { flat[0] = 1; };", "std::vector<pixel> copy(flat, flat + 4);",
          "((char *)flat)[1] = 0;", "if (n) flat[0] = 1; else n = 2;",
          "const pixel &p = in[0][0]; n = p;", "for (pixel *p = flat; p < flat + 4; p++) *p = 1;"});
}

TEST(GswoHostCode, FunctionsAreWhatTheyDo) {
  const std::string functions = R"(
static int twice(int n) { return n * 2; }
static int sum(const pixel *p, int n) { int s = 0; while (n--) s += *p++; return s; }
static void clear(pixel *p) { p[0] = 0; }
static void clear_if(pixel *p, int n) { if (n > 2) clear(p); }
int elsewhere(int);
static int recursive(int n) { return n ? recursive(n - 1) : 0; }
struct Ends { pixel *p; ~Ends() { *p = 1; } };
struct Base { virtual int value() { return 1; } };
#define CLEAR(p) (p)[0] = 0
#define ALL(p) do { for (int k = 0; k < 3; k++) (p)[k] = 1; } while (0)
)";
  expect("", {"n = twice(n);"}, functions);
  expect("reads", {"n = sum(flat, w);", "while (sum(flat, w) > n) n++;"}, functions);
  expect("changes",
         {"clear(flat);", "clear_if(flat, n);", "n = elsewhere(n);", "n = recursive(n);",
          "{ Ends e{flat}; }", "Base b; n = b.value();", "int (*g)(int) = twice; n = g(n);",
          "CLEAR(flat);", "if (n) CLEAR(flat);", "ALL(flat);"},
         functions);
}

TEST(GswoHostCode, WindowsOfOtherFunctionsAreKept) {
  const std::string functions = R"(
static int g(pixel **a, pixel **b, int h, int w) {
#pragma parallel
  {
#pragma for nest(2)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) b[y][x] = a[y][x];
  }
  return b[0][0];
}
static int other(pixel **a, pixel **b) { return g(a, b, 5, 6); }
)";
  expect("", {"g(in, out, h, w);", "for (int k = 0; k < 3; k++) n += g(in, out, h, w);"},
         functions);
  expect("changes",
         {"n = g(in, out, h, w) + in[0][0];", "n = other(in, out);",
          "while (g(in, out, h, w) > in[0][0]) n++;"},
         functions);
  expect("?", {"while (int m = in[0][0]) n += m + g(in, out, h, w);"}, functions);
}

}  // namespace
}  // namespace cudascan::gswo::test
