// SPDX-License-Identifier: LGPL-2.1-or-later
// Division of whole numbers by 0, and of the lowest number by -1, everywhere in users' code.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>

#include "kernels/usercode/divisions.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

/// Returns one byte of a quotient or a remainder.
const std::string kByteOfDivision =
    "template <typename T> unsigned long long divided(int operation, int i, int k) {\n"
    "  const T one = 1;\n"
    "  const T lowest = (T)-1 < one ? (T)((unsigned long long)one << (8 * sizeof(T) - 1)) : (T)0;\n"
    "  const T numbers[8] = {0, 1, (T)-1, lowest, (T)~lowest, 7, (T)-7, 2};\n"
    "  T a = numbers[i], b = numbers[k];\n"
    "  if (operation == 0) return a / b;\n"
    "  if (operation == 1) return a % b;\n"
    "  if (operation == 2) a /= b;\n"
    "  if (operation == 3) a %= b;\n"
    "  return a;\n"
    "}\n"
    "int byte_of_division(int x, int y) {\n"
    "  const int i = x / 8, k = y % 8, operation = y / 8 % 4, type = y / 32;\n"
    "  unsigned long long result = 0;\n"
    "  if (type == 0) result = divided<signed char>(operation, i, k);\n"
    "  if (type == 1) result = divided<unsigned char>(operation, i, k);\n"
    "  if (type == 2) result = divided<short>(operation, i, k);\n"
    "  if (type == 3) result = divided<unsigned short>(operation, i, k);\n"
    "  if (type == 4) result = divided<int>(operation, i, k);\n"
    "  if (type == 5) result = divided<unsigned>(operation, i, k);\n"
    "  if (type == 6) result = divided<long>(operation, i, k);\n"
    "  if (type == 7) result = divided<unsigned long>(operation, i, k);\n"
    "  if (type == 8) result = divided<long long>(operation, i, k);\n"
    "  if (type == 9) result = divided<unsigned long long>(operation, i, k);\n"
    "  return (int)((result >> (x % 8 * 8)) & 255);\n"
    "}\n";

__extension__ using Wide = __int128;

template <typename T>
std::uint64_t divided(int operation, int i, int k) {
  using Limits = std::numeric_limits<T>;
  const std::array<T, 8> numbers = {T{0},          T{1}, static_cast<T>(-1), Limits::min(),
                                    Limits::max(), T{7}, static_cast<T>(-7), T{2}};
  const Wide a = numbers[i], b = numbers[k];
  const Wide result = b == 0 ? 0 : operation % 2 ? a % b : a / b;
  return operation < 2 ? static_cast<std::uint64_t>(static_cast<decltype(+T{})>(result))
                       : static_cast<std::uint64_t>(static_cast<T>(result));
}

constexpr Size kTable{8 * 8, 10 * 4 * 8};

std::vector<std::uint8_t> expected_table() {
  constexpr decltype(&divided<int>) kDivided[] = {
      divided<signed char>, divided<unsigned char>,     divided<short>, divided<unsigned short>,
      divided<int>,         divided<unsigned>,          divided<long>,  divided<unsigned long>,
      divided<long long>,   divided<unsigned long long>};
  std::vector<std::uint8_t> table;
  for (int y = 0; y < kTable.height; ++y)
    for (int x = 0; x < kTable.width; ++x)
      table.push_back(
          static_cast<std::uint8_t>(kDivided[y / 32](y / 8 % 4, x / 8, y % 8) >> (x % 8 * 8)));
  return table;
}

template <typename Runner>
void expect_table_of_functions(Runner &runner) {
  const Files files;
  const SwoFilterParams p = source_filter(files.write(
      "table.cpp", kByteOfDivision + "int filter(auto p) { return byte_of_division(p.x, p.y); }"));
  EXPECT_TRUE(same(expected_table(), filtered(runner, picture(kTable), p), kTable.width));
}

TEST(GswoDivision, OfAllTypesHasResults) {
  CpuRunner cpu(1);
  expect_table_of_functions(cpu);
}

template <typename Runner>
void expect_table_of_loops(Runner &runner) {
  if (translator_version().empty()) GTEST_SKIP() << "there is no gswo-cc";
  const Files files;
  SwoFilterParams p = source_filter(files.write(
      "table.cpp",
      kByteOfDivision + one_window("out[i][j] = in[i][j] * 0 + byte_of_division(j, i);")));
  p.custom.strict = true;
  EXPECT_TRUE(same(expected_table(), filtered(runner, picture(kTable), p), kTable.width));
}

TEST(GswoDivision, OfAllTypesInLoopsHasResults) {
  CpuRunner cpu(1);
  expect_table_of_loops(cpu);
}

// ---- Formulas -----------------------------------------------------------------------------------

struct Formula {
  const char *text;
  int result;  // p is 50 and x is 1
  bool strict = true;
};
constexpr Formula kFormulas[] = {
    {"int(p) % int(x - 1)", 0},
    {"int(p) / int(x - 1) + 3", 3},
    {"7 + 1 / 0", 7},
    {"7 + 1 % 0", 7},
    {"3 + 100 / none", 3},
    {"4 + int(p) % none", 4},
    {"(-2147483647 - 1) / -int(x) < -2147483647 ? 1 : 2", 1},
    {"5 + (-2147483647 - 1) % -int(x)", 5},
    {"100 / int(x + 6) % 4 * 3", 6},
    {"2 * 100 / int(x + 6) / int(x + 1)", 14},
    {"-int(p) / int(x + 2) + 20", 4},
    {"60 - int(p) % -int(x + 6)", 59},
    {"100 / (x + 1)", 50},
    {"p / (x + 3) * 2", 25},
    {"p / none", 255},
    {"2 + p / 0 * 0", 0},  // not a number
    {"[](int a, int b) { a /= b; return a; }(9, int(x) - 1) + 4", 4, false},
    {"[](int a, int b) { return a %= b; }(19, int(x) + 4) + 4", 8, false},
    {"int(p)/*%*/%int(x-1)+1", 1, false},
    {"sizeof(int[10 / (none + 3)]) / sizeof(int)", 3, false},
    {"p.percentile(1e30f)", 90},
    {"p.percentile(-1e30f)", 10},
    {"p.percentile(1e30f * 0 / 0)", 10},
    {"p.percentile(50)", 50},
};

/// All formulas that are strict, or all that are not, combined in one formula; each has its own
/// row.
template <typename Runner>
void expect_formulas(Runner &runner) {
  for (const bool strict : {false, true}) {
    std::vector<Formula> formulas;
    SwoFilterParams p{.op = SwoFilterOperator::custom};
    std::vector<std::uint8_t> samples;
    for (const Formula &formula : kFormulas) {
      if (formula.strict != strict) continue;
      p.custom.expression +=
          "y == " + std::to_string(formulas.size()) + " ? float(" + formula.text + ") : ";
      formulas.push_back(formula);
      samples.insert(samples.end(), {10, 50, 90});
    }
    p.custom.expression += "0";
    p.custom.strict = strict;
    p.custom.constants = {{"none", std::int64_t{0}}};
    p.custom.cache_dir = "";
    const int rows = static_cast<int>(formulas.size());
    const auto results = filtered(runner, Image<std::uint8_t>(samples, 3, rows), p);
    for (int y = 0; y < rows; ++y)
      EXPECT_EQ(+results[3 * y + 1], formulas[y].result) << formulas[y].text;
  }
}

TEST(GswoDivision, InFormulasHasResults) {
  CpuRunner cpu(1);
  expect_formulas(cpu);
}

// ---- Whatever stands in files -------------------------------------------------------------------

/// Divisions by 0 in different places of a program. The function returns 1 if all give 0.
const std::string kPlaces =
    "#define QUOTIENT(a, b) ((a) / (b))\n"
    "#define OVER /\n"
    "#define APPLY(a, sign, b) (a sign b)\n"
    "#define LONG(a, b) \\\n  ((a) \\\n   % (b))\n"
    "const int kGlobal = 5 / none, kSize[3 + 1 / none] = {1, 2, 3};\n"
    "enum Names { kName = 8 % none };\n"
    "template <int n> int constant() { return n; }\n"
    "template <typename T> T quotient_of(T a, T b) { return a / b; }\n"
    "auto remainder_of(auto a, auto b) { return a % b; }\n"
    "struct Whole { int value; operator int() const { return value; } };\n"
    "int places(int nought) {\n"
    "  int values[4] = {6, 7, 8, 9}, turns = 0, a = 9, b = 9, ends = 0;\n"
    "  for (int i = 10 / nought; i <= 10 % nought; i += 1 + 3 / nought) ++turns;\n"
    "  a /= nought; b %= nought;\n"
    "  switch (3) { case 3 + 4 / none: ends = 1; }\n"
    "  const auto inner = [&](int n) { return n / nought; };\n"
    "  const Whole whole{4}, none_of_it{0};\n"
    "  bool good = kGlobal == 0 && sizeof(kSize) == 3 * sizeof(int) && kName == 0;\n"
    "  good = good && QUOTIENT(3, nought) == 0 && 3 OVER nought == 0 && LONG(3, nought) == 0;\n"
    "  good = good && APPLY(5, /, nought) == 0 && APPLY(5, %, nought) == 0;\n"
    "  good = good && constant<3 / none + 2>() == 2 && quotient_of(3LL, (long long)nought) == 0;\n"
    "  good = good && remainder_of(3, nought) == 0 && remainder_of(3u, nought) == 0;\n"
    "  good = good && turns == 1 && a == 0 && b == 0 && ends && values[2 % nought] == 6;\n"
    "  good = good && inner(4) == 0 && whole / none_of_it == 0 && 4 % none_of_it == 0;\n"
    "  good = good && (nought ? 1 : 2 / nought) == 0 && -7 / (nought - 2) == 3;\n"
    "  return good;\n"
    "}\n";

template <typename Runner>
void expect_places(Runner &runner) {
  const Files files;
  const SwoFilterParams p = source_filter(
      files.write("places.cpp", kPlaces + "int filter(auto p) { return places(p.x - p.x) * 7; }"),
      {{"none", std::int64_t{0}}});
  const auto result = filtered(runner, picture({5, 4}), p);
  EXPECT_EQ(result, std::vector<std::uint8_t>(20, 7));
}

TEST(GswoDivision, HasResultsWhereverItStands) {
  CpuRunner cpu(1);
  expect_places(cpu);
}

/// Operations that only look like divisions of whole numbers keep their meaning in C++.
const std::string kOthers =
    "#include \"gswo/library.h\"\n"
    "#include <cmath>  // it's a / b\n"
    "#define N 7\n"
    "#define M 2\n"
    "#define HALF (N / M)\n"
    "#if HALF != 3 || N % 4 != 3 || HALF / M != 1\n#error \"it's / 0\"\n#endif\n"
    "#define OPERATOR(sign) \\\n"
    "  friend Pair operator sign(Pair a, Pair b) { return {a.x sign b.x, a.y sign b.y}; }\n"
    "struct Pair {\n"
    "  float x, y;\n"
    "  OPERATOR(*)\n"
    "  OPERATOR(/)\n"
    "  Pair operator/(float by) const { return {x / by, y / by}; }\n"
    "  Pair &operator/=(float by) { x /= by; y /= by; return *this; }\n"
    "  float operator % (int) const { return x; }\n"
    "};\n"
    "struct Fixed {\n"
    "  int value;\n"
    "  Fixed operator/(Fixed by) const { return {value * 256 / by.value}; }\n"
    "  operator int() const { return value; }\n"
    "};\n"
    "struct Bits { int low : 4, high : 4; };\n"
    "template <typename T> struct Vector { T at; };\n"
    "template <typename T> Vector<T> operator/(Vector<T> v, T by) { return {v.at / by}; }\n"
    "auto all(auto... numbers) { return (numbers / ...); }\n"
    "constexpr const char *kText = \"1 / 0 % 0\", *kRaw = R\"x(/ \" % )\" / )x\";\n"
    "int others(float two) <%\n"
    "  Pair pair{8, 4}, same = pair / pair, half = pair / two;\n"
    "  pair /= two;\n"
    "  const Bits bits{6, 3};\n"
    "  const Fixed fixed = Fixed{3} / Fixed{2};\n"
    "  int whole = 9;\n"
    "  whole /= two;\n"
    "  bool good = same.x == 1 && half.y == 2 && pair.x == 4 && pair % 3 == 4;\n"
    "  good = good && fixed.value == 384 && bits.low / bits.high == 2 && whole == 4;\n"
    "  good = good && (Vector<float>{3} / two).at == 1.5f && all(64, 4, 2) == 32;\n"
    "  good = good && kText[2] == '/' && kRaw[0] == '\\57' && '%' == 37 && 1'000 / 3 == 333;\n"
    "  good = good && 7 / two == 3.5f && 7.0 / two == 3.5 && sizeof(7 / two) == sizeof(float);\n"
    "  good = good && -7 % 3 == -1 && 7u / 2 == 3u && 8 * 9 / int(two * 2) == 18;\n"
    "  return good;\n"
    "%>\n";

template <typename Runner>
void expect_others(Runner &runner) {
  const Files files;
  const SwoFilterParams p = source_filter(
      files.write("others.cpp", kOthers + "int filter(auto p) { return others(p * 0 + 2) * 7; }"));
  const auto result = filtered(runner, picture({5, 4}), p);
  EXPECT_EQ(result, std::vector<std::uint8_t>(20, 7));
}

TEST(GswoDivision, LeavesAllElseAsItIs) {
  CpuRunner cpu(1);
  expect_others(cpu);
}

template <typename Runner>
void expect_loops(Runner &runner) {
  if (translator_version().empty()) GTEST_SKIP() << "there is no gswo-cc";
  const Files files;
  const std::string text =
      "#define QUOTIENT(a, b) ((a) / (b))\n"
      "template <typename T> T quotient_of(T a, T b) { return a / b; }\n" +
      one_window(
          "int nought = (int)in[i][j] / 256, a = 9, b = 9, v[4] = {6, 7, 8, 9}, turns = 0;\n"
          "for (int k = 10 / nought; k < 1 + 10 / nought; k++) turns++;\n"
          "a /= nought; b %= none;\n"
          "out[i][j] = QUOTIENT(3, nought) + quotient_of(3, nought) + a + b + v[1 % nought] +\n"
          "            7 * turns + 9 % none + (nought ? 1 : 0);",
          ", int none");
  const std::string path = files.write("loops.cpp", text);
  SwoFilterParams p = source_filter(path, {{"none", std::int64_t{0}}});
  EXPECT_EQ(filtered(runner, picture({5, 4}), p), std::vector<std::uint8_t>(20, 13));
  p.custom.emit_cuda = files / "loops.cu";
  filtered(runner, picture({5, 4}), p);
  const SwoFilterParams edited = source_filter(p.custom.emit_cuda);
  EXPECT_TRUE(has(read_file(p.custom.emit_cuda), "QUOTIENT(3, nought)"));
  EXPECT_EQ(filtered(runner, picture({5, 4}), edited), std::vector<std::uint8_t>(20, 13));
}

TEST(GswoDivision, InLoopsHasResults) {
  CpuRunner cpu(1);
  expect_loops(cpu);
}

#ifdef HAVE_CUDA
#define ON_CUDA(name, expect)    \
  TEST(GswoDivisionCuda, name) { \
    NEED_GPU();                  \
    CudaRunner cuda;             \
    expect(cuda);                \
  }
ON_CUDA(OfAllTypesHasResults, expect_table_of_functions)
ON_CUDA(OfAllTypesInLoopsHasResults, expect_table_of_loops)
ON_CUDA(InFormulasHasResults, expect_formulas)
ON_CUDA(HasResultsWhereverItStands, expect_places)
ON_CUDA(LeavesAllElseAsItIs, expect_others)
ON_CUDA(InLoopsHasResults, expect_loops)
#endif

// ---- Texts and messages -------------------------------------------------------------------------

TEST(GswoDivision, OfOtherThingsIsAnErrorInItsLine) {
  CpuRunner cpu(1);
  const Files files;
  const std::string said =
      refusal(cpu, source_filter(files.write(
                       "bad.cpp",
                       "int half(int a, int b) { return a / b; }\nfloat filter(auto p) {\n"
                       "  const float f = p;\n  int n = 3;\n  return half(4, n) + f % n;\n}\n")));
  EXPECT_TRUE(has(said, "bad.cpp:5:25: error: "));
  EXPECT_TRUE(has(said, "'float'"));
  EXPECT_EQ(said.find("SideOfDivision"), said.npos) << said;
}

TEST(GswoDivision, LeavesColumnsInMessagesAsTheyAre) {
  const std::string text = "a / b\nx /= y % z + q\n";  // x /= gswo_by /= y / !gswo_by % z + q
  constexpr const char *kPlaces[][2] = {{"a.cpp:1:1: e", "a.cpp:1:1: e"},
                                        {"a.cpp:1:3: e", "a.cpp:1:3: e"},
                                        {"a.cpp:1:9: e", "a.cpp:1:3: e"},
                                        {"a.cpp:1:16: e", "a.cpp:1:5: e"},
                                        {"a.cpp:2:4: e", "a.cpp:2:3: e"},
                                        {"a.cpp:2:17: e", "a.cpp:2:6: e"},
                                        {"a.cpp:2:36: q", "a.cpp:2:14: q"},
                                        {"a.cpp:3:9: e", "a.cpp:3:9: e"},
                                        {"b.cpp:1:16: e", "b.cpp:1:16: e"},
                                        {"a.cpp:1: e", "a.cpp:1: e"},
                                        {"a.cpp:", "a.cpp:"},
                                        {"a.cpp:1:16", "a.cpp:1:5"},
                                        {"a.cpp:0:16", "a.cpp:0:16"}};
  for (const auto &[said, told] : kPlaces)
    EXPECT_EQ(gswo::in_columns_of("a.cpp", text, said), told);
}

TEST(GswoDivision, IsFoundInTheText) {
  constexpr const char *kTexts[][2] = {
      {"a / b", "a / !gswo_by / b"},
      {"a%b/c", "a/ !gswo_by %b/ !gswo_by /c"},
      {"a /= b; a%=b", "a /= gswo_by /= b; a%= gswo_by %=b"},
      {"a / 3 % 0x10 / 2.5f / .5", "a / 3 % 0x10 / 2.5f / !gswo_by / .5"},
      {"a /= 3; a %= 0", "a /= 3; a %= gswo_by %= 0"},
      {"a / 0 / 00u / 3_x", "a / !gswo_by / 0 / !gswo_by / 00u / !gswo_by / 3_x"},
      {"a // b / c\n/ d", "a // b / c\n/ !gswo_by / d"},
      {"a // b \\\n/ c\n/ d", "a // b \\\n/ c\n/ !gswo_by / d"},
      {"// a \\\n\n/ d", "// a \\\n\n/ !gswo_by / d"},
      {"a /* b / c */ / d", "a /* b / c */ / !gswo_by / d"},
      {"\"a / b\" '/' '%' R\"(a \" / b)\"", "\"a / b\" '/' '%' R\"(a \" / b)\""},
      {"xR\"(\" / a)", "xR\"(\" / !gswo_by / a)"},
      {"1'\"'\" / b\"/ c", "1'\"'\" / b\"/ !gswo_by / c"},
      {"operator/ operator %= V::operator /", "operator/ operator %= V::operator /"},
      {"OP(/) OP(%=)", "OP(/ !gswo_by /) OP(%= gswo_by %=)"},
      {"#define OP(s) \\\n operator s\nOP(/) OP(%=) f(a, /, b)",
       "#define OP(s) \\\n operator s\nOP(/) OP(%=) f(a, /, b)"},
      {"operator int OP(/)", "operator int OP(/ !gswo_by /)"},
      {"(a / ...) (... % a) (1 / ... / a)", "(a / ...) (... % a) (1 / ... / a)"},
      {"<% a %>\n%:include <a/b>", "<% a %>\n%:include <a/b>"},
      {"#include <a/b>\n#if a / b\na / b\n# \\\nif a / b\n#endif",
       "#include <a/b>\n#if a / b\na / !gswo_by / b\n# \\\nif a / b\n#endif"},
      {"# define A a / \\\n b % c\n%:define B a / b\n%:line 1 \"a/b\" // a / b",
       "# define A a / !gswo_by / \\\n b / !gswo_by % c\n%:define B a / !gswo_by / b\n"
       "%:line 1 \"a/b\" // a / b"},
      {"", ""},
      {"/", "/ !gswo_by /"},
  };
  for (const auto &[text, defined] : kTexts)
    EXPECT_EQ(gswo::with_defined_divisions(text), defined) << text;
}

}  // namespace
}  // namespace cudascan::test
