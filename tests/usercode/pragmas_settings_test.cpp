// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources with pragmas in the library: their parameters, which function is taken, what is said
// about mistakes, and saving while frames flow.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>

#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

constexpr std::int64_t operator""_whole(unsigned long long n) {
  return static_cast<std::int64_t>(n);
}

/// The sample in the middle of a gray picture, 127 everywhere.
int of_gray(CpuRunner &cpu, const SwoFilterParams &p) {
  return filtered(cpu, picture({5, 3}, Content::gray), p)[7];
}

/// A temporary folder that messages have nothing of.
bool names_temporary(const std::string &message, const Files &files) {
  std::string rest = message;
  const std::string &own = files.folder().path();
  for (auto at = rest.find(own); at != rest.npos; at = rest.find(own)) rest.erase(at, own.size());
  return rest.find("/tmp/") != rest.npos || rest.find("gswo-cc.in") != rest.npos;
}

// ---- Parameters ---------------------------------------------------------------------------------

TEST(GswoPragmasSettings, WindowsHaveTheirUsualNames) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = win + 10 * r + 100 * (window_height == window_size) + "
                          "50 * (radius == R) + (window == win) + window_width;",
                          ", int win, int window, int window_size, int r, int R, int radius, "
                          "int window_width, int window_height")));
  EXPECT_EQ(of_gray(cpu, p), 3 + 10 + 100 + 50 + 1 + 3);
  p.window_height = 7;  // the window is 3 x 7
  EXPECT_EQ(of_gray(cpu, p), 7 + 30 + 100 + 50 + 1 + 3);
  p.window_width = 9;  // 9 x 7
  EXPECT_EQ(of_gray(cpu, p), 9 + 40 + 0 + 50 + 1 + 9);
  p.constants = {{"window_width", 1_whole}, {"r", 2_whole}};
  EXPECT_EQ(of_gray(cpu, p), 9 + 20 + 0 + 50 + 1 + 1);
}

TEST(GswoPragmasSettings, ParametersCanReplaceTheWindow) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(
      files.write("f.cpp", one_window("out[i][j] = radius * 2;", ", float radius = 50")));
  EXPECT_EQ(of_gray(cpu, p), 2);
  p.constants = {{"radius", 7_whole}};
  EXPECT_EQ(of_gray(cpu, p), 14);
  p.constants = {{"radius", 2.5}};
  EXPECT_EQ(of_gray(cpu, p), 5);
}

/// No parameter is what an image is called.
TEST(GswoPragmasSettings, ImagesCanHaveTheNamesOfTheWindow) {
  CpuRunner cpu(1);
  const Files files;
  const std::string path =
      files.write("f.cpp",
                  "void f(float **r, float **R, int height, int width) {\n#pragma parallel\n{\n"
                  "#pragma for nest(2)\nfor (int i = 0; i < height; i++)\n"
                  "for (int win = 0; win < width; win++) R[i][win] = r[i][win] + 3;\n}\n}\n");
  EXPECT_EQ(of_gray(cpu, source_filter(path)), 130);
}

TEST(GswoPragmasSettings, RealNumbersCostNothing) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j] * gain + offset;",
                                                    ", float gain, double offset = 1.5")));
  p.constants = {{"gain", 1.0}};
  EXPECT_EQ(of_gray(cpu, p), 129);  // 128.5, halves up
  const Variable no_translator("CUDASCAN_GSWO_CC", "/nonexistent");
  const Variable no_compiler("CUDASCAN_CXX", "/nonexistent");
  for (const double gain : {0.5, 0.25, -3.0, 1e30, std::nan(""), 0.75}) {
    p.constants = {{"gain", gain}};
    const double expected = std::isnan(gain) ? 0 : std::clamp(127 * gain + 1.5, 0.0, 255.0);
    EXPECT_EQ(of_gray(cpu, p), static_cast<int>(expected + 0.5)) << gain;
  }
  p.constants = {{"gain", 1.0}, {"offset", 3.0}};
  EXPECT_TRUE(has(message_of<Error>([&] { of_gray(cpu, p); }), "/nonexistent"))
      << "another set of parameters is another program";
}

TEST(GswoPragmasSettings, WholeNumbersAreConstants) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("int v[n]; for (int k = 0; k < n; k++) v[k] = k; out[i][j] = v[n - 1];",
                          ", int n")));
  p.constants = {{"n", 42_whole}};
  EXPECT_EQ(of_gray(cpu, p), 41);
  p.constants = {{"n", 17_whole}};
  EXPECT_EQ(of_gray(cpu, p), 16);
  p.constants = {{"n", 17.0}};
  EXPECT_TRUE(has(refusal(cpu, p), files / "f.cpp:" + std::to_string(kBodyLine) + ":"));
  p.constants = {{"n", -1_whole}};
  EXPECT_NE(refusal(cpu, p), "");
  p.constants = {{"n", INT64_MAX}};
  EXPECT_NE(refusal(cpu, p), "");
}

TEST(GswoPragmasSettings, PixelsHoldTheSamples) {
  CpuRunner cpu(1);
  const Files files;
  const std::string path =
      files.write("f.cpp",
                  "void f(unsigned char **in, float **out, int height, int width) {\n"
                  "#pragma parallel\n{\n#pragma for nest(2)\nfor (int i = 0; i < height; i++)\n"
                  "for (int j = 0; j < width; j++) out[i][j] = in[i][j] + 3;\n}\n}\n");
  EXPECT_EQ(of_gray(cpu, source_filter(path)), 130);
  const std::string refused = message_of<BadSetting>([&] {
    filtered(cpu, picture<std::uint16_t>({5, 3}), source_filter(path));
  });
  EXPECT_TRUE(has(refused, "source = " + path)) << refused;
  EXPECT_TRUE(has(refused, "the pixels of in are of type unsigned char"));
  EXPECT_TRUE(has(refused, "use unsigned short, int or float"));
}

TEST(GswoPragmasSettings, ParametersAreChecked) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = in[i][j] * gain + k;", ", float gain, int k = 0")));
  const std::string missing = refusal(cpu, p);
  EXPECT_TRUE(has(missing, "a parameter gain without a default"));
  EXPECT_TRUE(has(missing, "params,gain=1"));
  p.constants = {{"gain", 1.0}, {"gian", 2.0}};
  const std::string unknown = refusal(cpu, p);
  EXPECT_TRUE(has(unknown, "has no parameter gian"));
  EXPECT_TRUE(has(unknown, "gain"));
  EXPECT_TRUE(has(unknown, "k"));
  EXPECT_FALSE(has(unknown, "height"));
  p.constants = {{"gain", 1.0}, {"width", 2.0}};
  EXPECT_NE(refusal(cpu, p), "") << "that is the frame's";
  p.constants = {{"gain", 1.0}, {"in", 2_whole}};
  EXPECT_NE(refusal(cpu, p), "") << "that is an image";
  p.constants = {{"gain", 1.0}, {"k", 2.9}};
  EXPECT_EQ(of_gray(cpu, p), 129) << "as a C++ compiler makes 2.9 an int";
  SwoFilterParams none = source_filter(files.write("g.cpp", one_window("out[i][j] = in[i][j];")));
  none.constants = {{"gain", 1.0}};
  EXPECT_TRUE(has(refusal(cpu, none), "it has none"));
}

/// Numbers for the size of the frame would filter a part of it only.
TEST(GswoPragmasSettings, SizesComeFromTheFrame) {
  CpuRunner cpu(1);
  const Files files;
  const auto in = picture({6, 5}, Content::gray);
  const std::vector<std::uint8_t> all(6 * 5, 128);
  SwoFilterParams p = source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j] + 1;")));
  for (const char *name : {"width", "height"})
    for (const SwoFilterConstant &constant :
         Constants{{name, 2_whole}, {name, 2.0}, {name, 100_whole}, {name, INT64_MAX}}) {
      p.constants = {constant};
      const std::string message = refusal(cpu, p);
      EXPECT_TRUE(
          message.starts_with(std::string("params: ") + name + " is the " + name + " of the frame"))
          << message;
      EXPECT_TRUE(has(message, "leave it out of params")) << message;
    }
  p.constants = {};
  EXPECT_EQ(filtered(cpu, in, p), all);

  // The same where they are called as windows often are, and bound the loops through other
  // variables.
  const auto loops = [&](const std::string &name, const std::string &begin, const std::string &rows,
                         const std::string &columns) {
    return source_filter(
        files.write(name, "void f(float **in, float **out, int r, int win, int n) {\n" + begin +
                              "#pragma parallel\n{\n#pragma for\n" + rows + columns +
                              "out[i][j] = in[i][j] + 1;\n}\n}\n"));
  };
  for (SwoFilterParams other :
       {loops("a.cpp", "", "for (int i = 0; i < r; i++)\n", "for (int j = 0; j < win; j++)\n"),
        loops("b.cpp", "", "for (int i = r - 1; i >= 0; i--)\n",
              "for (int j = 1; j <= win; j++)\n"),
        loops("c.cpp", "const int last = r - 1;\n", "for (int i = 0; i <= last; i++)\n",
              "for (int j = 0; j != win; j++)\n"),
        loops("d.cpp", "", "for (int i = 0; i < r - n; i++)\n",
              "for (int j = 0; j < win + n; j++)\n")}) {
    SCOPED_TRACE(other.source);
    other.constants = {{"n", 0_whole}};
    EXPECT_EQ(filtered(cpu, in, other), all);
    other.constants = {{"n", 0_whole}, {"win", 3_whole}};
    EXPECT_TRUE(has(refusal(cpu, other), "params: win is the width of the frame"));
  }
}

/// A radius that the loops stay away from the border by is not the size.
TEST(GswoPragmasSettings, BoundsCanHaveConstants) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(
      files.write("f.cpp",
                  "void f(float **in, float **out, int h, int w, int r) {\n#pragma parallel\n{\n"
                  "#pragma for\nfor (int i = r; i < h - r; i++)\nfor (int j = r; j < w - r; j++) "
                  "out[i][j] = in[i][j] + 1;\n}\n}\n"));
  p.constants = {{"r", 2_whole}};
  const auto samples = filtered(cpu, picture({6, 5}, Content::gray), p);
  std::vector<std::uint8_t> expected(6 * 5, 127);
  expected[2 * 6 + 2] = expected[2 * 6 + 3] = 128;
  EXPECT_EQ(samples, expected);
}

TEST(GswoPragmasSettings, WholeNumbersHaveToFit) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = (c == 44) + (n < 0) + (u > 9) + (l > 9) + (f > 9) + b;",
                          ", unsigned char c = 1, int n = 1, unsigned u = 1, long l = 1, "
                          "float f = 1, bool b = false, const signed char &s = 1")));
  struct Case {
    const char *name;
    std::int64_t value;
    const char *range;  // nullptr = it fits
  };
  for (const Case &one : {Case{"c", 300, "0 to 255"},
                          {"c", 256, "0 to 255"},
                          {"c", -1, "0 to 255"},
                          {"c", 255, nullptr},
                          {"n", 5000000000, "-2147483648 to 2147483647"},
                          {"n", 2147483648, "-2147483648 to 2147483647"},
                          {"n", -2147483649, "-2147483648 to 2147483647"},
                          {"n", -2147483648, nullptr},
                          {"u", -1, "0 to 4294967295"},
                          {"u", 4294967296, "0 to 4294967295"},
                          {"u", 4294967295, nullptr},
                          {"l", 5000000000, nullptr},
                          {"l", INT64_MAX, nullptr},
                          {"f", 5000000000, nullptr},
                          {"b", 2, nullptr},
                          {"s", 128, "-128 to 127"},
                          {"s", -128, nullptr}}) {
    SCOPED_TRACE(std::string(one.name) + " = " + std::to_string(one.value));
    p.constants = {{one.name, one.value}};
    const std::string message = refusal(cpu, p);
    EXPECT_EQ(message.empty(), !one.range) << message;
    if (!one.range) continue;
    EXPECT_TRUE(message.starts_with(files / "f.cpp:1:")) << message;
    for (const std::string &part :
         {std::string("'") + one.name + "'", std::to_string(one.value), std::string(one.range)})
      EXPECT_TRUE(has(message, part)) << message;
  }
  const auto value = [&](const char *name, std::int64_t whole) {
    p.constants = {{name, whole}};
    return of_gray(cpu, p);
  };
  EXPECT_EQ(value("n", -2147483648), 1);
  EXPECT_EQ(value("u", 4294967295), 1);
  EXPECT_EQ(value("l", 5000000000), 1);
  EXPECT_EQ(value("b", 2), 1);
}

/// A frame whose size the parameter does not hold is not filtered in part.
TEST(GswoPragmasSettings, SizesHaveToFit) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p = source_filter(
      files.write("f.cpp",
                  "void f(float **in, float **out, int h, signed char w) {\n#pragma parallel\n{\n"
                  "#pragma for\nfor (int i = 0; i < h; i++)\nfor (int j = 0; j < w; j++) "
                  "out[i][j] = in[i][j] + 1;\n}\n}\n"));
  EXPECT_EQ(filtered(cpu, picture({127, 2}, Content::gray), p),
            std::vector<std::uint8_t>(127 * 2, 128));
  const std::string message = message_of<BadSetting>([&] {
    filtered(cpu, picture({128, 2}, Content::gray), p);
  });
  for (const char *part : {"128", "parameter w", "signed char", "-128 to 127", "make it an int"})
    EXPECT_TRUE(has(message, part)) << message;
}

TEST(GswoPragmasSettings, EnumerationsAreSetByTheirNumbers) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp",
      "enum Mode { first, second };\nenum class Way { up = 5, down = 7 };\n" +
          one_window("out[i][j] = (m == second) + 2 * (w == Way::down);", ", Mode m, Way w")));
  p.constants = {{"m", 1_whole}, {"w", 7_whole}};
  EXPECT_EQ(of_gray(cpu, p), 3);
  p.constants = {{"m", 0_whole}, {"w", 5_whole}};
  EXPECT_EQ(of_gray(cpu, p), 0);
}

TEST(GswoPragmasSettings, ParametersNeedNotBeUsed) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = in[i][j] + 1;", ", float gain, int k, double = 1")));
  EXPECT_EQ(of_gray(cpu, p), 128) << "and need no value then";
  for (const SwoFilterConstant &constant :
       Constants{{"gain", 2.0}, {"gain", 2_whole}, {"k", 3.0}, {"k", 3_whole}}) {
    p.constants = {constant};
    EXPECT_EQ(of_gray(cpu, p), 128) << constant.name;
  }
  p.constants = {{"gian", 1.0}};
  EXPECT_TRUE(has(refusal(cpu, p), "has no parameter gian; it has gain, k"));
}

/// What a loop of kernels may cost is not unlimited.
TEST(GswoPragmasSettings, LoopsAreCounted) {
  CpuRunner cpu(1);
  const Files files;
  const auto turns = [&](const std::string &name, const std::string &count) {
    return source_filter(
        files.write(name,
                    "void f(float **in, float **out, int height, int width, int n) {\n"
                    "#pragma parallel region\n  {\n    for (int k = 0; k < " +
                        count +
                        "; k++) {\n#pragma parallel\n      {\n#pragma for nest(2)\n"
                        "        for (int i = 0; i < height; i++)\n"
                        "          for (int j = 0; j < width; j++) out[i][j] = in[i][j] + k;\n"
                        "      }\n    }\n  }\n}\n"));
  };
  SwoFilterParams p = turns("n.cpp", "n");
  p.constants = {{"n", 3.0}};
  EXPECT_EQ(of_gray(cpu, p), 129);
  p.constants = {{"n", -3.0}};
  EXPECT_EQ(of_gray(cpu, p), 127) << "no turn: the frame";
  p.constants = {{"n", 1e9}};
  EXPECT_TRUE(has(refusal(cpu, p), "params: n: a filter repeats its kernels at most"));
  p.constants = {{"n", std::nan("")}};
  EXPECT_EQ(of_gray(cpu, p), 127);
  EXPECT_TRUE(has(refusal(cpu, turns("many.cpp", "500000")), "repeats its kernels at most"));
}

TEST(GswoPragmasSettings, ImagesThatNoTurnWroteAreZero) {
  const Files files;
  const std::string kernel =
      "#pragma parallel\n{\n#pragma for\nfor (int i = 0; i < h; i++)\n"
      "for (int j = 0; j < w; j++) ";
  SwoFilterParams p = source_filter(
      files.write("f.cpp",
                  "void f(float **in, float **a, float **out, int h, int w, int n) {\n"
                  "#pragma parallel region\n{\nfor (int k = 0; k < n; k++) {\n" +
                      kernel + "a[i][j] = in[i][j] / 2;\n}\n}\n" + kernel +
                      "out[i][j] = a[i][j] + 5;\n}\n}\n}\n"));
  CpuRunner cpu(1);
  for (const auto &[turns, expected] : {std::pair(1.0, 69), {0.0, 5}, {2.0, 69}, {-1.0, 5}}) {
    p.constants = {{"n", turns}};
    EXPECT_EQ(of_gray(cpu, p), expected) << turns;
  }
}

// ---- Functions ----------------------------------------------------------------------------------

TEST(GswoPragmasSettings, TakesTheFunctionThatIsNamed) {
  CpuRunner cpu(1);
  const Files files;
  const std::string first = one_window("out[i][j] = 1 + n;", ", int n = 0", "first"),
                    second = one_window("out[i][j] = 2;", "", "second");
  SwoFilterParams one = source_filter(files.write("one.cpp", first));
  EXPECT_EQ(of_gray(cpu, one), 1) << "there is no other";
  one.function = "first";
  EXPECT_EQ(of_gray(cpu, one), 1);
  one.function = "second";
  EXPECT_TRUE(has(refusal(cpu, one), "function = second: " + (files / "one.cpp") +
                                         " has no filter of this name; it has first"));
  SwoFilterParams two = source_filter(files.write("two.cpp", first + second));
  EXPECT_TRUE(has(refusal(cpu, two), "it has first, second"));
  two.function = "second";
  EXPECT_EQ(of_gray(cpu, two), 2);
  two.function = "first";
  EXPECT_EQ(of_gray(cpu, two), 1);
  two.constants = {{"n", 3.0}};
  EXPECT_EQ(of_gray(cpu, two), 4);
  two.function = "second";
  EXPECT_TRUE(has(refusal(cpu, two), "has no parameter n"));
}

// ---- Mistakes -----------------------------------------------------------------------------------

TEST(GswoPragmasSettings, MistakesAreAtTheUsersPlace) {
  CpuRunner cpu(1);
  const Files files;
  const std::string path = files.write(
      "my \"own\" f.cpp",
      "void f(float **in, float **out, int h, int w) {\n  float sum = 0;\n#pragma parallel\n  {\n"
      "#pragma for\n    for (int i = 0; i < h; i++)\n      for (int j = 0; j < w; j++) {\n"
      "        sum += in[i][j];\n        out[i][j] = sum;\n      }\n  }\n}\n");
  const std::string carried = refusal(cpu, source_filter(path));
  EXPECT_TRUE(carried.starts_with(path + ":8:9: error: 'sum' carries")) << carried;
  EXPECT_FALSE(names_temporary(carried, files)) << carried;

  const std::string undeclared =
      refusal(cpu, source_filter(files.write("u.cpp", one_window("out[i][j] = missing;"))));
  EXPECT_TRUE(has(undeclared, files / "u.cpp:7:")) << undeclared;
  EXPECT_TRUE(has(undeclared, "missing"));
  EXPECT_FALSE(names_temporary(undeclared, files)) << undeclared;

  const std::string no_loop = refusal(
      cpu, source_filter(files.write("n.cpp", "void f() {\n#pragma gswo parallel\n{ }\n}\n")));
  EXPECT_TRUE(has(no_loop, files / "n.cpp:")) << no_loop;
  EXPECT_FALSE(names_temporary(no_loop, files)) << no_loop;

  const std::string beside = refusal(
      cpu,
      source_filter(files.write("b.cpp", "#include \"other.h\"\n" + one_window("out[i][j] = 1;"))));
  EXPECT_TRUE(has(beside, files / "b.cpp:1:")) << beside;
  EXPECT_TRUE(has(beside, "other.h")) << beside;
  EXPECT_FALSE(names_temporary(beside, files)) << beside;

  for (const char *name : {"</etc/passwd>", "<../x.h>", "\"/etc/passwd\"", "<a/./b>", "<>"}) {
    SCOPED_TRACE(name);
    CpuRunner other(1);
    const std::string includes =
        files.write("i.cpp", "#include " + std::string(name) + "\n" + one_window("out[i][j] = 1;"));
    const std::string outside = refusal(other, source_filter(includes));
    EXPECT_TRUE(outside.starts_with(includes + ":1:")) << outside;
    EXPECT_FALSE(names_temporary(outside, files)) << outside;
  }
}

/// A path as it was given, also one that is relative or has odd signs.
TEST(GswoPragmasSettings, PathsCanBeOdd) {
  CpuRunner cpu(1);
  const Files files;
  const std::string before = std::filesystem::current_path();
  std::filesystem::current_path(files.folder().path());
  for (const char *name :
       {"-o.cpp", "a b/c'\"$x.cpp", "back\\slash.cpp", "noname", ".cpp", "\xc3\xa4.cpp"}) {
    SCOPED_TRACE(name);
    files.write(name, one_window("out[i][j] = in[i][j] + 1;"));
    SwoFilterParams p = source_filter(name);
    EXPECT_EQ(of_gray(cpu, p), 128);
    files.write(name, one_window("int unused; out[i][j] = in[i][j] + nothing;"));
    CpuRunner other(1);
    EXPECT_TRUE(refusal(other, p).starts_with(std::string(name) + ":7:")) << refusal(other, p);
  }
  std::filesystem::current_path(before);
}

/// A program that calls the filter can be the source, too.
TEST(GswoPragmasSettings, ProgramsAreSources) {
  CpuRunner cpu(1);
  const Files files;
  EXPECT_EQ(of_gray(cpu, source_filter(files.write(
                             "program.cpp",
                             "#include <stdio.h>\n#include <vector>\n # include <iostream>\n"
                             "#include <math.h>\n#include <cstdint>\n" +
                                 one_window("out[i][j] = sqrtf(in[i][j] - 6) + std::min(1, 2);") +
                                 "int main() {\n  std::vector<float> image(9);\n"
                                 "  std::cout << image.size();\n  printf(\"%d\", 3);\n}\n"))),
            12);
}

TEST(GswoPragmasSettings, TheTranslatorMayBeMissing) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j];")));
  const auto said = [&] { return message_of<Error>([&] { of_gray(cpu, p); }); };
  {
    const Variable chosen("CUDASCAN_GSWO_CC", "/nonexistent/gswo-cc");
    const std::string message = said();
    EXPECT_TRUE(has(message, "/nonexistent/gswo-cc"));
    EXPECT_TRUE(has(message, "set it to the path of gswo-cc"));
    EXPECT_EQ(translator_version(), "");
  }
  {
    const Variable chosen("CUDASCAN_GSWO_CC", nullptr);
    const Variable path("PATH", "/nonexistent");
    if (translator_version().empty()) {
      const std::string message = said();
      EXPECT_TRUE(has(message, files / "f.cpp"));
      EXPECT_TRUE(has(message, "apt install"));
      EXPECT_TRUE(has(message, "CUDASCAN_GSWO_CC"));
    }
  }
  const auto with_script = [&](const std::string &commands) {
    const Variable chosen("CUDASCAN_GSWO_CC", make_script(files.folder(), "script", commands));
    EXPECT_EQ(translator_version(), "") << commands;
    return said();
  };
  for (const char *end : {"kill -SEGV $$", "exit 3", "kill -9 $$", "exit 1"}) {
    const std::string crashed = with_script(end);
    EXPECT_TRUE(has(crashed, "crashed or ran out of memory at " + (files / "f.cpp"))) << end;
    EXPECT_TRUE(has(crashed, "make the code simpler")) << end;
  }
  const Variable not_a_program("CUDASCAN_GSWO_CC", files.write("text", "no program"));
  chmod((files / "text").c_str(), 0755);
  EXPECT_NE(said(), "");
  EXPECT_EQ(translator_version(), "");
  EXPECT_EQ(of_gray(cpu, source_filter(files.write("g.cpp", "float filter(auto p) { return 3; }"))),
            3)
      << "nobody needs it for functions";
}

/// What gives nothing, or no manifest, is no translation.
TEST(GswoPragmasSettings, TheTranslatorMayBeSomethingElse) {
  CpuRunner cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j];")));
  for (const char *commands : {"exit 0", "while [ $# -gt 2 ]; do shift; done; echo text > $1"}) {
    const Variable chosen("CUDASCAN_GSWO_CC", make_script(files.folder(), "script", commands));
    EXPECT_THROW(of_gray(cpu, p), Error) << commands;
  }
}

TEST(GswoPragmasSettings, TheTranslatorHasAVersion) {
  EXPECT_TRUE(translator_version().starts_with("gswo-cc ")) << translator_version();
  EXPECT_EQ(translator_version().find('\n'), std::string::npos);
}

// ---- New code while frames flow -----------------------------------------------------------------

/// Calls `done` until it returns true; false after a minute.
bool soon(const std::function<bool()> &done) {
  for (int i = 0; i < 6000; ++i) {
    if (done()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

TEST(GswoPragmasSettings, FollowsTheFile) {
  Cpu cpu(1);
  const Files files;
  // As editors do: a new file takes the place of the old one.
  const auto save = [&](const std::string &body) {
    files.write("new", body.empty() ? "" : one_window(body));
    std::filesystem::rename(files / "new", files / "f.cpp");
  };
  save("out[i][j] = 1;");
  SwoFilterParams p = source_filter(files / "f.cpp");
  p.reload = true;
  const auto in = picture({3, 2});
  const auto result = [&] {
    Image<std::uint8_t> out(3, 2);
    run(cpu, in.plane(), out.plane(), p);
    return +out.at(1, 1);
  };
  const auto warning = [&](int goes_on) {
    std::string text;
    EXPECT_TRUE(soon([&] {
      EXPECT_EQ(result(), goes_on);
      text = take_warning(cpu);
      return !text.empty();
    }));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(result(), goes_on);
    EXPECT_EQ(take_warning(cpu), "") << "told once";
    return text;
  };
  EXPECT_EQ(result(), 1);
  save("out[i][j] = 2;");
  EXPECT_TRUE(soon([&] { return result() == 2; }));
  EXPECT_EQ(take_warning(cpu), "");
  save("out[i - 1][j] += 2;");
  EXPECT_TRUE(has(warning(2), files / "f.cpp:7:"));
  save("out[i][j] = nothing;");
  EXPECT_TRUE(has(warning(2), "nothing"));
  save("");
  EXPECT_TRUE(has(warning(2), "no function filter"));
  save("out[i][j] = 4;");
  EXPECT_TRUE(soon([&] { return result() == 4; }));
  // It can become what gswo-cc makes of it, and a function.
  std::string edited = code_of(cpu)->cuda_source;
  edited.replace(edited.find("= 4;"), 4, "= 5;");
  files.write("f.cpp", edited);
  EXPECT_TRUE(soon([&] { return result() == 5; }));
  files.write("f.cpp", edited + "//@gswo nonsense\n");
  EXPECT_TRUE(has(warning(5), "nonsense"));
  files.write("f.cpp", "int filter(auto p) { return 6; }");
  EXPECT_TRUE(soon([&] { return result() == 6; }));
  EXPECT_EQ(take_warning(cpu), "");
}

TEST(GswoPragmasSettings, PreparesWithoutWaiting) {
  Cpu cpu(1);
  const Files files;
  const SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j] + 17;")));
  EXPECT_FALSE(prepare(cpu, 1, 0xff, p));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, p); }));
  const SwoFilterParams bad = source_filter(files.write("b.cpp", one_window("out[i][j] = a;")));
  EXPECT_TRUE(soon([&] { return prepare(cpu, 1, 0xff, bad); })) << "run() would throw";
}

/// Translations are kept in the folder beside compiled code.
TEST(GswoPragmasSettings, KeepsTranslations) {
  const Files files, cache;
  SwoFilterParams p =
      source_filter(files.write("f.cpp", one_window("in[i][j] = in[i][j + 1] + 18;")));
  p.cache_dir = cache.folder().path();
  Cpu cpu(1);
  const auto in = picture({4, 3}, Content::gray);
  Image<std::uint8_t> out(4, 3);
  run(cpu, in.plane(), out.plane(), p);
  const SwoFilterCode code = *code_of(cpu);
  EXPECT_EQ(files_in(cache.folder().path()).size(), 2u);
  EXPECT_TRUE(has(code.log, "filtered in place"));
  EXPECT_TRUE(has(code.log, files / "f.cpp:"));
  EXPECT_TRUE(has(code.cuda_source, "//@gswo manifest 1"));
  // Another program of this process, but the same text and the same translation.
  p.border = SwoFilterBorder::reflect;
  run(cpu, in.plane(), out.plane(), p);
  EXPECT_EQ(files_in(cache.folder().path()).size(), 3u);
  EXPECT_EQ(code_of(cpu)->log, code.log);
  EXPECT_EQ(code_of(cpu)->cuda_source, code.cuda_source);
  EXPECT_EQ(out.at(1, 1), 145);
}

/// Runs a filter in a process of its own, for the test below.
TEST(GswoPragmasSettings, DISABLED_RunsOnce) {
  SwoFilterParams p = source_filter(std::getenv("TEST_SOURCE"));
  p.cache_dir = std::getenv("TEST_CACHE");
  Cpu cpu(1);
  const auto in = picture({4, 3}, Content::gray);
  Image<std::uint8_t> out(4, 3);
  run(cpu, in.plane(), out.plane(), p);
}

/// The library of the translator may become another one without gswo-cc.
TEST(GswoPragmasSettings, TranslatesAnewForAnotherVersion) {
  const Files files, cache;
  const char *real = std::getenv("CUDASCAN_GSWO_CC");
  if (!real) GTEST_SKIP() << "CUDASCAN_GSWO_CC is not set";
  const Variable source("TEST_SOURCE", files.write("f.cpp", one_window("out[i][j] = 19;")));
  const Variable folder("TEST_CACHE", cache.folder().path());
  const Variable chosen(
      "CUDASCAN_GSWO_CC",
      make_script(files.folder(), "script",
                  "case $1 in --version) cat " + (files / "version") + ";; *) echo >>" +
                      (files / "calls") + "; exec " + real + " \"$@\";; esac"));
  const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  const auto translations = [&](const std::string &version) {
    files.write("version", version + '\n');
    const std::string command = "'" + program +
                                "' --gtest_also_run_disabled_tests --gtest_output= " +
                                "--gtest_filter=GswoPragmasSettings.DISABLED_RunsOnce >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    return read_file(files / "calls").size();
  };
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 1u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 1u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.7)"), 2u);
  EXPECT_EQ(translations("gswo-cc 1 (Clang 14.0.6)"), 2u);
}

TEST(GswoPragmasSettings, CanBeTurnedOff) {
  CpuRunner cpu(1);
  const Files files;
  const Variable off("CUDASCAN_NO_USER_CODE", "1");
  EXPECT_TRUE(has(refusal(cpu, source_filter(files.write("f.cpp", one_window("out[i][j] = 1;")))),
                  "CUDASCAN_NO_USER_CODE"));
}

}  // namespace
}  // namespace cudascan::test
