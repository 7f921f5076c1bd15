// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources with pragmas in the library: their parameters, and the choice of the function.
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

constexpr std::int64_t operator""_whole(unsigned long long n) {
  return static_cast<std::int64_t>(n);
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
  p.window_height = 7;  // so the window is 3 x 7
  EXPECT_EQ(of_gray(cpu, p), 7 + 30 + 100 + 50 + 1 + 3);
  p.window_width = 9;  // so the window is 9 x 7
  EXPECT_EQ(of_gray(cpu, p), 9 + 40 + 0 + 50 + 1 + 9);
  p.custom.constants = {{"window_width", 1_whole}, {"r", 2_whole}};
  EXPECT_EQ(of_gray(cpu, p), 9 + 20 + 0 + 50 + 1 + 1);
}

TEST(GswoPragmasSettings, ParametersCanReplaceTheWindow) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(
      files.write("f.cpp", one_window("out[i][j] = radius * 2;", ", float radius = 50")));
  EXPECT_EQ(of_gray(cpu, p), 2);
  p.custom.constants = {{"radius", 7_whole}};
  EXPECT_EQ(of_gray(cpu, p), 14);
  p.custom.constants = {{"radius", 2.5}};
  EXPECT_EQ(of_gray(cpu, p), 5);
}

/// A name that belongs to an image is not a parameter.
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
  p.custom.constants = {{"gain", 1.0}};
  EXPECT_EQ(of_gray(cpu, p), 129);  // 128.5; halves are rounded up
  const Variable no_translator("CUDASCAN_GSWO_CC", "/nonexistent");
  const Variable no_compiler("CUDASCAN_CXX", "/nonexistent");
  for (const double gain : {0.5, 0.25, -3.0, 1e30, std::nan(""), 0.75}) {
    p.custom.constants = {{"gain", gain}};
    const double expected = std::isnan(gain) ? 0 : std::clamp(127 * gain + 1.5, 0.0, 255.0);
    EXPECT_EQ(of_gray(cpu, p), static_cast<int>(expected + 0.5)) << gain;
  }
  p.custom.constants = {{"gain", 1.0}, {"offset", 3.0}};
  EXPECT_TRUE(has(message_of<Error>([&] { of_gray(cpu, p); }), "/nonexistent"))
      << "another set of parameters needs another program";
}

TEST(GswoPragmasSettings, WholeNumbersAreConstants) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("int v[n]; for (int k = 0; k < n; k++) v[k] = k; out[i][j] = v[n - 1];",
                          ", int n")));
  p.custom.constants = {{"n", 42_whole}};
  EXPECT_EQ(of_gray(cpu, p), 41);
  p.custom.constants = {{"n", 17_whole}};
  EXPECT_EQ(of_gray(cpu, p), 16);
  p.custom.constants = {{"n", 17.0}};
  EXPECT_TRUE(has(refusal(cpu, p), files / "f.cpp:" + std::to_string(kBodyLine) + ":"));
  p.custom.constants = {{"n", -1_whole}};
  EXPECT_NE(refusal(cpu, p), "");
  p.custom.constants = {{"n", INT64_MAX}};
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
  p.custom.constants = {{"gain", 1.0}, {"gian", 2.0}};
  const std::string unknown = refusal(cpu, p);
  EXPECT_TRUE(has(unknown, "has no parameter gian"));
  EXPECT_TRUE(has(unknown, "gain"));
  EXPECT_TRUE(has(unknown, "k"));
  EXPECT_FALSE(has(unknown, "height"));
  p.custom.constants = {{"gain", 1.0}, {"width", 2.0}};
  EXPECT_NE(refusal(cpu, p), "") << "the frame sets the width";
  p.custom.constants = {{"gain", 1.0}, {"in", 2_whole}};
  EXPECT_NE(refusal(cpu, p), "") << "an image is not a parameter";
  p.custom.constants = {{"gain", 1.0}, {"k", 2.9}};
  EXPECT_EQ(of_gray(cpu, p), 129) << "2.9 becomes an int as in C++";
  SwoFilterParams none = source_filter(files.write("g.cpp", one_window("out[i][j] = in[i][j];")));
  none.custom.constants = {{"gain", 1.0}};
  EXPECT_TRUE(has(refusal(cpu, none), "it has none"));
}

/// A number for the size of the frame would filter only a part of the frame.
TEST(GswoPragmasSettings, SizesComeFromTheFrame) {
  CpuRunner cpu(1);
  const Files files;
  const auto in = picture({6, 5}, Content::gray);
  const std::vector<std::uint8_t> all(6 * 5, 128);
  SwoFilterParams p = source_filter(files.write("f.cpp", one_window("out[i][j] = in[i][j] + 1;")));
  for (const char *name : {"width", "height"})
    for (const UserFilterConstant &constant :
         Constants{{name, 2_whole}, {name, 2.0}, {name, 100_whole}, {name, INT64_MAX}}) {
      p.custom.constants = {constant};
      const std::string message = refusal(cpu, p);
      EXPECT_TRUE(
          message.starts_with(std::string("params: ") + name + " is the " + name + " of the frame"))
          << message;
      EXPECT_TRUE(has(message, "remove it from params")) << message;
    }
  p.custom.constants = {};
  EXPECT_EQ(filtered(cpu, in, p), all);

  // The same for sizes with names that windows often have, which bound the loops through other
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
    SCOPED_TRACE(other.custom.source);
    other.custom.constants = {{"n", 0_whole}};
    EXPECT_EQ(filtered(cpu, in, other), all);
    other.custom.constants = {{"n", 0_whole}, {"win", 3_whole}};
    EXPECT_TRUE(has(refusal(cpu, other), "params: win is the width of the frame"));
  }
}

/// A radius, by which the loops keep away from the border, is not a size.
TEST(GswoPragmasSettings, BoundsCanHaveConstants) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(
      files.write("f.cpp",
                  "void f(float **in, float **out, int h, int w, int r) {\n#pragma parallel\n{\n"
                  "#pragma for\nfor (int i = r; i < h - r; i++)\nfor (int j = r; j < w - r; j++) "
                  "out[i][j] = in[i][j] + 1;\n}\n}\n"));
  p.custom.constants = {{"r", 2_whole}};
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
    const char *range;  // nullptr if the value fits
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
    p.custom.constants = {{one.name, one.value}};
    const std::string message = refusal(cpu, p);
    EXPECT_EQ(message.empty(), !one.range) << message;
    if (!one.range) continue;
    EXPECT_TRUE(message.starts_with(files / "f.cpp:1:")) << message;
    for (const std::string &part :
         {std::string("'") + one.name + "'", std::to_string(one.value), std::string(one.range)})
      EXPECT_TRUE(has(message, part)) << message;
  }
  const auto value = [&](const char *name, std::int64_t whole) {
    p.custom.constants = {{name, whole}};
    return of_gray(cpu, p);
  };
  EXPECT_EQ(value("n", -2147483648), 1);
  EXPECT_EQ(value("u", 4294967295), 1);
  EXPECT_EQ(value("l", 5000000000), 1);
  EXPECT_EQ(value("b", 2), 1);
}

/// A frame is refused if the parameter's type cannot hold its size.
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
  p.custom.constants = {{"m", 1_whole}, {"w", 7_whole}};
  EXPECT_EQ(of_gray(cpu, p), 3);
  p.custom.constants = {{"m", 0_whole}, {"w", 5_whole}};
  EXPECT_EQ(of_gray(cpu, p), 0);
}

TEST(GswoPragmasSettings, ParametersNeedNotBeUsed) {
  CpuRunner cpu(1);
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "f.cpp", one_window("out[i][j] = in[i][j] + 1;", ", float gain, int k, double = 1")));
  EXPECT_EQ(of_gray(cpu, p), 128) << "unused parameters need no value";
  for (const UserFilterConstant &constant :
       Constants{{"gain", 2.0}, {"gain", 2_whole}, {"k", 3.0}, {"k", 3_whole}}) {
    p.custom.constants = {constant};
    EXPECT_EQ(of_gray(cpu, p), 128) << constant.name;
  }
  p.custom.constants = {{"gian", 1.0}};
  EXPECT_TRUE(has(refusal(cpu, p), "has no parameter gian; it has gain, k"));
}

/// The number of repetitions of kernels is limited.
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
  p.custom.constants = {{"n", 3.0}};
  EXPECT_EQ(of_gray(cpu, p), 129);
  p.custom.constants = {{"n", -3.0}};
  EXPECT_EQ(of_gray(cpu, p), 127) << "without repetitions, the result is the frame";
  p.custom.constants = {{"n", 1e9}};
  EXPECT_TRUE(has(refusal(cpu, p), "params: n: a filter repeats its kernels at most"));
  p.custom.constants = {{"n", std::nan("")}};
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
    p.custom.constants = {{"n", turns}};
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
  EXPECT_EQ(of_gray(cpu, one), 1) << "it is the only function";
  one.custom.function = "first";
  EXPECT_EQ(of_gray(cpu, one), 1);
  one.custom.function = "second";
  EXPECT_TRUE(has(refusal(cpu, one), "function = second: " + (files / "one.cpp") +
                                         " has no filter with this name; it has first"));
  SwoFilterParams two = source_filter(files.write("two.cpp", first + second));
  EXPECT_TRUE(has(refusal(cpu, two), "it has first, second"));
  two.custom.function = "second";
  EXPECT_EQ(of_gray(cpu, two), 2);
  two.custom.function = "first";
  EXPECT_EQ(of_gray(cpu, two), 1);
  two.custom.constants = {{"n", 3.0}};
  EXPECT_EQ(of_gray(cpu, two), 4);
  two.custom.function = "second";
  EXPECT_TRUE(has(refusal(cpu, two), "has no parameter n"));
}

}  // namespace
}  // namespace cudascan::test
