// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources that gswo-cc refuses, with the message and its line; and messages about options.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "tool.h"

namespace cudascan::gswo::test {
namespace {

struct Refusal {
  std::string name;
  std::vector<std::string> options;
  std::string text;
  friend std::ostream &operator<<(std::ostream &o, const Refusal &r) { return o << r.name; }
};

std::vector<Refusal> refusals() {
  std::vector<Refusal> all;
  std::istringstream file(read(GSWO_TESTS "/refusals.txt"));
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("---- ", 0) == 0) {
      std::istringstream words(line.substr(5));
      all.emplace_back();
      words >> all.back().name;
      for (std::string option; words >> option;) all.back().options.push_back(option);
    } else if (!all.empty()) {
      all.back().text += line + "\n";
    }
  }
  return all;
}

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, WithItsLineAndReason) {
  const Folder folder;
  const std::string file = folder / GetParam().name;
  write(file, GetParam().text);
  std::vector<std::string> command{file, "-o", folder / "out.cu"};
  command.insert(command.end(), GetParam().options.begin(), GetParam().options.end());
  const Outcome outcome = translate(command);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(read(folder / "out.cu"), "") << "there must be no output after an error";
  std::set<int> expected_lines, lines;
  std::istringstream text(GetParam().text);
  int number = 1;
  for (std::string line; std::getline(text, line); ++number) {
    const auto mark = line.find("// error: ");
    if (mark == std::string::npos) continue;
    expected_lines.insert(number);
    const std::string begin = file + ":" + std::to_string(number) + ":",
                      words = line.substr(mark + 10);
    bool found = false;
    std::istringstream messages(outcome.errors);
    for (std::string message; std::getline(messages, message);)
      found |= message.rfind(begin, 0) == 0 && message.find(words) != std::string::npos &&
               message.find("error: ") != std::string::npos;
    EXPECT_TRUE(found) << "line " << number << ": " << words << "\nin:\n" << outcome.errors;
  }
  std::istringstream messages(outcome.errors);
  for (std::string message; std::getline(messages, message);)
    if (message.rfind(file + ":", 0) == 0 && message.find(" error: ") != std::string::npos)
      lines.insert(std::stoi(message.substr(file.size() + 1)));
  EXPECT_EQ(lines, expected_lines) << outcome.errors;
}

INSTANTIATE_TEST_SUITE_P(Gswo, Refused, testing::ValuesIn(refusals()), [](const auto &info) {
  return info.param.name.substr(0, info.param.name.find('.'));
});

/// Cases with line continuations and control characters, which refusals.txt cannot contain.
TEST(GswoStrictText, EndsOfLinesAreThoseOfAllCompilers) {
  const Folder folder;
  const std::string file = folder / "lines.cpp";
  const std::pair<std::string, std::string> kTexts[] = {
      {"#inc\\\nlude \"/etc/hostname\"\n", "only mathematical headers of C and C++"},
      {"#include \\\n\"/etc/hostname\"\n", "only mathematical headers of C and C++"},
      {"// \\ \n\nWINDOW", "blanks between \\ and the end of its line"},
      {"//\r/*\n*/\nWINDOW", "control characters"},
      {std::string("//\0\nWINDOW", 10), "control characters"}};
  const std::string window =
      "void f(float **In, float **Out, int w, int h) {\n#pragma parallel\n{\n#pragma for\n"
      "for (int i = 0; i < h; i++)\nfor (int j = 0; j < w; j++) Out[i][j] = In[i][j];\n}\n}\n";
  for (auto [text, words] : kTexts) {
    if (const auto at = text.find("WINDOW"); at != text.npos) text.replace(at, 6, window);
    write(file, text);
    const Outcome outcome = translate({file, "--strict"});
    EXPECT_EQ(outcome.status, 1) << text;
    EXPECT_TRUE(outcome.errors.rfind(file + ":1:", 0) == 0 &&
                outcome.errors.find(words) != std::string::npos)
        << outcome.errors;
  }
}

TEST(GswoStrictText, HonestCodeIsAllowed) {
  const Folder folder;
  const std::string file = folder / "honest.cpp";
  write(file, R"(#include <math.h>
#include <algorithm>
#ifndef AMOUNT
#define AMOUNT 3
#endif
const float weights[3] = {1, 2, 1};
struct Sum {
  float n;
  void add(float x) { this->n += x, n += x; }
};
static void sort(float *v, int n) {
  for (int a = 0; a < n - 1; a++)
    for (int b = a + 1; b < n; b++)
      if (v[b] < v[a]) {
        const float t = v[a];
        v[a] = v[b], v[b] = t;
      }
}
template <typename T> static T times(T x) {
  T s = 0;
  for (int k = 0; k < AMOUNT; k++) s += x;
  return s;
}
void f(float **In, float **Out, int w, int h) {
#pragma parallel
  {
#pragma for
    for (int i = 0; i < h; i++)
      for (int j = 0; j < w; j++) {
        float v[9], s = 0;
        int n = 0, histogram[65536] = {0};
        for (int y = -1; y <= 1; y++)
          for (int x = -1; x <= 1; x++) v[n++] = In[i + y][j + x];
        sort(v, n);
        const auto add = [&](float x) { s += x; };
        int k;
        for (k = 0; k != n; k++) add(v[k]);
        for (unsigned long y = 3; y > 0; y--) histogram[y]++;
        Sum sum{1};
        sum.add(In[i][j]);
        [[maybe_unused]] Sum copy = sum;
        copy = sum;
        Out[i][j] = times(sqrtf(s)) + std::min(copy.n, v[n / 2] * weights[1]) + histogram[3];
      }
  }
}
)");
  const Outcome outcome = translate({file, "--strict"});
  EXPECT_EQ(outcome.status, 0) << outcome.errors;
}

TEST(GswoOptions, AreExplainedAndChecked) {
  EXPECT_EQ(translate({"--help"}).status, 0);
  EXPECT_NE(translate({"--help"}).output.find("--emit kernel"), std::string::npos);
  EXPECT_NE(translate({"--version"}).output.find("manifest 1"), std::string::npos);
  const std::string table3 = source("table3.cpp");
  const std::vector<std::pair<std::vector<std::string>, std::string>> wrong{
      {{}, "no file given"},
      {{"no/such/file.cpp"}, "can't read 'no/such/file.cpp'"},
      {{"/"}, "can't read '/'"},
      {{table3, "--emit", "cubin"}, "'cubin': must be kernel"},
      {{table3, "--emit", "so"}, "needs the name of a file, -o FILE"},
      {{table3, "--emit", "so", "-o", "x.so", "--strict"}, "without translating"},
      {{table3, "--emit"}, "--emit needs a value"},
      {{table3, "--set", "win"}, "NAME=NUMBER"},
      {{table3, "--set", "win=5;system(1)"}, "NAME=NUMBER"},
      {{table3, "--set", "3=5"}, "NAME=NUMBER"},
      {{table3, "--fast"}, "unknown option '--fast'"},
      {{table3, table3}, "one file at a time"},
      {{table3, "-o", "/no/such/folder/x"}, "can't write '/no/such/folder/x'"}};
  for (const auto &[options, words] : wrong) {
    const Outcome outcome = translate(options);
    EXPECT_EQ(outcome.status, 1) << words;
    EXPECT_NE(outcome.errors.find(words), std::string::npos) << outcome.errors;
  }
}

TEST(GswoOutput, SaysTheUsersLinesAndKeepsTheComments) {
  const Outcome outcome = translate({source("language.cpp")});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("// A structure, an enumeration"), std::string::npos);
  EXPECT_EQ(outcome.output.find("unrelated"), std::string::npos) << "windows do not need it";
  const std::string marked = translate({source("table3.cpp")}).output;
  for (const char *place : {"/* single transfer */", "/* single remain */", "/* single assign */",
                            "// single initialisation"})
    EXPECT_NE(marked.find(place), std::string::npos) << place;
  // A mistake that only a later compiler can find is reported in the user's line.
  const Folder folder;
  const std::string file = folder / "late.cu";
  std::string text = translate({source("clamped.cpp")}).output;
  const auto sum = text.find("s += in[yy]");
  ASSERT_NE(sum, std::string::npos);
  write(file, text.replace(sum, 1, "missing"));
  try {
    const Library library(file, {"-I" GSWO_RUNTIME, "-std=c++20", "-x", "c++"}, folder);
    FAIL() << "the name 'missing' must be an error";
  } catch (const std::runtime_error &error) {
    EXPECT_NE(std::string(error.what()).find("clamped.cpp:15:"), std::string::npos) << error.what();
  }
}

TEST(GswoOutput, HasLaunchesInPlaceOfTheLoopsWhenItStandsAlone) {
  const Outcome outcome = translate({source("appendix_c.cpp"), "--emit", "standalone"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  for (const char *part : {"d_W.allocate((int)(I), (int)(J))", "d_im_GPU.allocate(",
                           "W_1D[g_i * (I) + g_j] = W[g_i][g_j]", "d_W.upload(W_1D",
                           "d_W.to_array((int)(ROI_w), (int)(ROI_h))", "d_W.bind()",
                           "filter_k0<<<g_grid, g_block>>>(d_W.texture(), d_im_GPU.plane(), J, I)",
                           "d_im_GPU.download(W_1D", "W[g_i][g_j] = W_1D[g_i * (I) + g_j]"})
    EXPECT_NE(outcome.output.find(part), std::string::npos) << part;
  const auto in_order = [&](const char *a, const char *b) {
    return outcome.output.find(a) < outcome.output.find(b);
  };
  EXPECT_TRUE(in_order("d_W.bind()", "<<<g_grid"));
  EXPECT_TRUE(in_order("<<<g_grid", "d_im_GPU.download("));
}

/// A block has 48 KiB of shared memory for the tile and for work that its threads share.
TEST(GswoOutput, HasTilesThatFit) {
  const Folder folder;
  const std::string file = folder / "f.cpp";
  const auto bytes = [&](int rows) {
    write(file,
          "void f(unsigned short **in, float **out, int h, int w) {\n#pragma parallel\n{\n"
          "#pragma for tile(1024, 16) chunksize(1, 16)\nfor (int i = 0; i < h; i++)\n"
          "for (int j = 0; j < w; j++)\nout[i][j] = in[i][j] + in[i + " +
              std::to_string(rows) + "][j];\n}\n}\n");
    const Outcome outcome = translate({file});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    const auto at = outcome.output.find(" shared ");
    return std::stoi(outcome.output.substr(at + 8));
  };
  EXPECT_EQ(bytes(6), 22 * 1032 * 2);
  EXPECT_EQ(bytes(7), 0) << "23 rows and 2 bytes for each of 1024 threads are too much";
}

/// A result of an element that cannot be used is an error with its name.
TEST(GswoOutput, TellsWhichOfSeveralResultsItIs) {
  const auto errors = [](const std::string &body) {
    const Folder folder;
    const std::string file = folder / "f.cpp";
    write(file,
          "void f(float **in, float **a, float **b, int h, int w) {\n#pragma parallel\n{\n"
          "#pragma for\nfor (int i = 0; i < h; i++)\nfor (int j = 0; j < w; j++) {\n" +
              body + "\n}\n}\n}\n");
    const Outcome outcome = translate({file});
    EXPECT_EQ(outcome.status, 0) << outcome.errors;
    return outcome.errors;
  };
  EXPECT_NE(errors("a[i][j] = in[i][j];\nb[i][j] = 1;").find(":4:1: note: 'a' and 'b' are written"),
            std::string::npos);
  EXPECT_EQ(errors("b[i][j] = 1;\n#pragma single assign\na[i][j] = in[i][j];"), "");
  EXPECT_EQ(errors("a[i][j] = in[i][j];"), "");
}

/// Kernel output is for frames of any size; a standalone program may be for one size.
TEST(GswoOutput, TakesTheSizeFromTheFrameUnlessItStandsAlone) {
  const Folder folder;
  const std::string file = folder / "f.cpp";
  write(file,
        "void f(float **in, float **out, int h, int w, int spare) {\n#pragma parallel\n{\n"
        "#pragma for\nfor (int i = 0; i < h; i++)\nfor (int j = 0; j < w; j++)\n"
        "out[i][j] = in[i][j];\n}\n}\n");
  const Outcome kernel = translate({file, "--set", "w=2"});
  ASSERT_EQ(kernel.status, 0) << kernel.errors;
  EXPECT_NE(kernel.output.find("//@gswo scalar w width : int\n"), std::string::npos);
  EXPECT_NE(kernel.output.find("//@gswo unused spare\n"), std::string::npos);
  EXPECT_EQ(kernel.output.find("const int w = 2"), std::string::npos);
  EXPECT_NE(kernel.errors.find(file + ":1:44: note: 'w' bounds the loops"), std::string::npos)
      << kernel.errors;
  const Outcome standalone = translate({file, "--set", "w=2", "--emit", "standalone"});
  ASSERT_EQ(standalone.status, 0) << standalone.errors;
  EXPECT_NE(standalone.output.find("const int w = 2;"), std::string::npos);
  EXPECT_EQ(standalone.errors, "");
}

TEST(GswoOutput, MakesCopiesOfHelpersForKnownNumbers) {
  const Outcome outcome = translate({source("rank.cpp"), "--set", "win=5", "--set", "rank=12"});
  ASSERT_EQ(outcome.status, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("sort_window_n25(v, n);"), std::string::npos);
  EXPECT_NE(outcome.output.find("constexpr int n = 25;"), std::string::npos);
}

}  // namespace
}  // namespace cudascan::gswo::test
