// SPDX-License-Identifier: LGPL-2.1-or-later
// strict: what formulas and sources may contain, and attempts to get around it.
#include <gtest/gtest.h>

#include <random>

#include "kernels/usercode/formula.h"
#include "tests/usercode/pragmas.h"

namespace cudascan::test {
namespace {

const Constants kConstants = {{"gain", 1.5}, {"radius", std::int64_t{2}}};

/// The message that refuses a formula; "" if it is allowed.
std::string refused(const std::string &expression) {
  try {
    gswo::check_formula(expression);
    gswo::check_strict_formula(expression, kConstants);
  } catch (const BadSetting &e) {
    return e.what();
  }
  return "";
}

const char *const kAllowed[] = {
    "p",
    "255 - p",
    "p.max() - p.min()",
    " p . min ( ) ",
    "p\n+\t1",
    "p(1, -1)",
    "p(-1, 0) * gain + radius",
    "p.rank(radius) / 2",
    "x / width * maximum",
    "(p > 127 && x < 10) || !(y >= 3) ? maximum : 0",
    "p < 10 ? 0 : p < 20 ? 1 : p < 30 ? 2 : 3",
    "min(max(p, 20), 60)",
    "sqrt(p) + pow(p, 0.5f)",
    ".5f * p",
    "1e-3 * p + 1.e2 + 0x1p3 + 0x1P-2 + 1E+2",
    "- - p",
    "+p * -3",
    "p * -p",
    "p.x + p.width % 7",
    "(int)p & 1",
    "int(p) % 2 ^ 3 | 4 << 1 >> 1",
    "(float)(p(0, 0))",
    "float(int(p)) + 1",
    "(int)-p",
    "~int(p)",
    "fmod(x, 3) == 1",
    "p.percentile(30)",
    "p != 3",
    "((((p))))",
};

TEST(GswoStrict, FormulasAreAllowed) {
  for (const char *formula : kAllowed) EXPECT_EQ(refused(formula), "");
}

/// Allowed formulas must also compile.
TEST(GswoStrict, WhatIsAllowedCompiles) {
  CpuRunner cpu(1);
  const auto in = picture({7, 5});
  std::string all = "0";
  for (const char *formula : kAllowed) all += " + (" + std::string(formula) + ")";
  SwoFilterParams p{.op = SwoFilterOperator::custom};
  p.custom.cache_dir = "";
  p.custom.strict = true;
  p.custom.constants = kConstants;
  p.custom.expression = all;
  EXPECT_FALSE(filtered(cpu, in, p).empty());
  p.custom.expression = "p + 0 * gain";
  EXPECT_EQ(filtered(cpu, in, p), in.samples());
}

struct Refused {
  const char *formula, *said;
};
const Refused kRefused[] = {
    // Other names.
    {"system(3)", "\"system\""},
    {"p + asm(3)", "\"asm\""},
    {"sizeof(p)", "\"sizeof\""},
    {"new int", "\"new\""},
    {"p + frame", "\"frame\""},
    {"p.each(3)", "\"each\""},
    {"p.view_", "\"view_\""},
    {"p.~Window()", "\"~\" at character 3"},
    {"p.operator float()", "\"operator\""},
    {"threadIdx", "\"threadIdx\""},
    {"__builtin_trap()", "\"__builtin_trap\""},
    {"__FILE__", "\"__FILE__\""},
    {"GSWO_MAXIMUM", "\"GSWO_MAXIMUM\""},
    {"Gain", "\"Gain\""},
    {"reinterpret_cast<int>(p)", "\"reinterpret_cast\""},
    {"throw 3", "\"throw\""},
    {"p and p", "\"and\""},
    {"co_await p", "\"co_await\""},
    {"p\xc3\xa4", "at character 2"},
    {"\xce\xbb", "at character 1"},
    {"$x", "\"$\" at character 1"},
    {"`p`", "at character 1"},
    {"@p", "at character 1"},
    // Pointers, and what reads through them.
    {"&p", "\"&\" at character 1"},
    {"p + &p", "\"&\" at character 5"},
    {"p && &p", "\"&\" at character 6"},
    {"*p", "\"*\" at character 1"},
    {"p * *p", "\"*\" at character 5"},
    {"p ** p", "\"*\" at character 4"},
    {"(int)*(int*)8", "\"*\" at character 6"},
    {"(float)&gain", "\"&\" at character 8"},
    {"(int*)8", "\"*\" at character 5"},
    {"(int)(int*)8", "\"*\" at character 10"},
    {"(int&)gain", "\"&\" at character 5"},
    {"int*(8)", "\"*\" at character 4"},
    {"(float(*)())8", "\"*\" at character 8"},
    {"p[0]", "\"[\" at character 2"},
    {"0[p]", "\"[\" at character 2"},
    {"0<:(int*)8:>", "\":\" at character 3"},
    {"p<:0:>", "\":\" at character 3"},
    {"p->x", "\">\" at character 3"},
    {"p - > x", "\">\" at character 5"},
    {"p.*x", "\"*\" at character 3"},
    {"p->*x", "\">\" at character 3"},
    {"p.x.", "incomplete formula"},
    {"p...", "at character 3"},
    // Scopes, templates, lambdas, blocks.
    {"::gain", "\":\" at character 1"},
    {"gswo::maximum", "\"gswo\""},
    {"p ? x::y : 3", "\":\" at character 7"},
    {"min<int>(p, 3)", "\">\" at character 8"},
    {"min<float>(p, 3)", "\">\" at character 10"},
    {"[&](){ return 3; }()", "at character 1"},
    {"[](int x) { return x; }(3)", "at character 1"},
    {"<::>()<%%>", "\"<\" at character 1"},
    {"p <% p %>", "\"%\" at character 4"},
    {"({ p; })", "\"{\" at character 2"},
    {"int{3}", "at character 4"},
    {"p{}", "at character 2"},
    {"%:include <x>", "\"%\" at character 1"},
    {"p\n%:define x 3", "\":\" at character 4"},
    {"?\?(0?\?)", "\"?\" at character 1"},
    {"p ?\?< p ?\?>", "\"?\" at character 4"},
    {"p ?: 3", "\":\" at character 4"},
    // Writing.
    {"gain = 3", "\"=\" at character 6"},
    {"gain += 3", "\"=\" at character 7"},
    {"gain + = 3", "\"=\" at character 8"},
    {"gain <<= 3", "\"=\" at character 8"},
    {"radius >>= 3", "\"=\" at character 10"},
    {"gain |= 3", "\"=\" at character 7"},
    {"gain === 3", "\"=\" at character 8"},
    {"gain <== 3", "\"=\" at character 8"},
    {"++gain", "\"++\" at character 1"},
    {"gain++", "\"++\" at character 5"},
    {"gain-- + 1", "\"--\" at character 5"},
    {"p --gain", "\"--\" at character 3"},
    {"p - --gain", "\"--\" at character 5"},
    {"p, 3", "\",\" at character 2"},
    {"(p, 3)", "\",\" at character 3"},
    // Text, comments.
    {"'a'", "at character 1"},
    {"1'000", "at character 2"},
    {"p + /* 3 */ 4", "\"/\" at character 5"},
    {"p // 3", "\"/\" at character 4"},
    // Halves.
    {"", "incomplete formula"},
    {" ", "incomplete formula"},
    {"p +", "incomplete formula"},
    {"p ? 3", "incomplete formula"},
    {"p ? 3 :", "incomplete formula"},
    {"p 3", "\"3\" at character 3"},
    {"3 p", "\"p\" at character 3"},
    {"p.", "incomplete formula"},
    {"p.3", "\".3\" at character 2"},
    {"p(,3)", "\",\" at character 3"},
    {"p(3,)", "\")\" at character 5"},
    {"()", "\")\" at character 2"},
    {"(int)", "incomplete formula"},
    {"int", "incomplete formula"},
    {"int()", "\")\" at character 5"},
    {"(int)(float)", "incomplete formula"},
};

TEST(GswoStrict, FormulasAreRefused) {
  for (const auto &[formula, said] : kRefused) {
    SCOPED_TRACE(formula);
    std::string message;
    try {
      gswo::check_strict_formula(formula, kConstants);
    } catch (const BadSetting &e) {
      message = e.what();
    }
    EXPECT_TRUE(has(message, "strict = true does not allow "));
    EXPECT_TRUE(has(message, said));
    EXPECT_TRUE(has(message, "set strict to false"));
  }
}

TEST(GswoStrict, DeepFormulasAreRefused) {
  const auto repeated = [](const std::string &text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  for (const int times : {1000, 1'000'000}) {
    EXPECT_TRUE(has(refused(repeated("(", times) + "p" + repeated(")", times)), "deep nesting"));
    EXPECT_TRUE(has(refused(repeated("- ", times) + "p"), "deep nesting"));
    EXPECT_TRUE(has(refused(repeated("(int)", times) + "p"), "deep nesting"));
    EXPECT_TRUE(has(refused(repeated("p?", times) + "p"), "deep nesting"));
    EXPECT_TRUE(has(refused(repeated("p?1:", times) + "p"), "deep nesting"));
    EXPECT_TRUE(has(refused(repeated("p(", times)), "brackets"));
  }
  EXPECT_EQ(refused("p" + repeated("+p", 10000)), "");
  EXPECT_EQ(refused("p" + repeated("(1, 2)", 10000)), "");
  EXPECT_EQ(refused(repeated("(", 40) + "p" + repeated(")", 40)), "");
}

/// Random formulas: never a crash, and allowed ones contain only known parts.
TEST(GswoStrict, FormulasByChance) {
  std::mt19937 random(1);
  const std::string parts[] = {"p",     "x",  "gain", "3", ".5",  "(",   ")",    "(int)", "int",
                               "float", "+",  "-",    "*", "&",   "/",   "%",    "<",     ">",
                               "=",     "!",  "?",    ":", ".",   ",",   "[",    "]",     " ",
                               "\n",    ";",  "'",    "~", "min", "max", "rank", "1e",    "0x",
                               "\\",    "\"", "#",    "{", "}",   "|",   "^",    "q"};
  int allowed = 0;
  for (int turn = 0; turn < 200'000; ++turn) {
    std::string formula;
    for (unsigned n = 1 + random() % 8; n > 0; --n) formula += parts[random() % std::size(parts)];
    if (!refused(formula).empty()) continue;
    ++allowed;
    EXPECT_EQ(formula.find_first_of("[]{};'\"\\#"), std::string::npos) << formula;
    for (const char *digraph : {"<:", ":>", "<%", "%>", "%:", "::", "->", "+=", "&&&", "/*", "//",
                                "*)", "(*", "(&", "?\?"})
      EXPECT_EQ(formula.find(digraph), std::string::npos) << formula;
  }
  EXPECT_GT(allowed, 1000);
}

SwoFilterParams strict(SwoFilterParams p) {
  p.custom.strict = true;
  return p;
}

TEST(GswoStrict, FilesAreLookedAt) {
  const Files files;
  const auto said = [&](const std::string &text) {
    CpuRunner cpu(1);
    return refusal(cpu, strict(source_filter(files.write("f.cpp", text))));
  };
  const std::string path = files / "f.cpp";
  EXPECT_TRUE(has(said("float filter(auto p) { return p; }"),
                  "strict = true: " + path + " has no GSWO pragmas"));
  EXPECT_TRUE(has(said("//@gswo manifest 1\n"), "strict = true: " + path));
  EXPECT_EQ(said("#include <math.h>\n" + one_window("out[i][j] = in[i][j] + sqrtf(4.f);")), "");
  const Refused kBodies[] = {
      {"while (in[i][j] > 3) { } out[i][j] = 3;", "so that they end (strict)"},
      {"for (;;) { } out[i][j] = 3;", "may not end"},
      {"int v = 3; int *q = &v; out[i][j] = *q;", "can't follow pointers"},
      {"asm(\"nop\"); out[i][j] = 3;", "assembler is not allowed"},
      {"out[i][j] = rand();", "'rand' is not a function of this file"},
      {"out[i][j] = sizeof(reinterpret_cast<float *>(8));", "pointers are not allowed"},
      {"out[i][j] = new float(3) ? 1 : 0;", "'new' is not allowed"},
  };
  for (const auto &[body, part] : kBodies) {
    const std::string message = said("#include <stdlib.h>\n" + one_window(body));
    EXPECT_TRUE(message.starts_with(path + ":8:")) << message;
    EXPECT_TRUE(has(message, part)) << body;
  }
  EXPECT_TRUE(has(said("#include <fstream>\n" + one_window("out[i][j] = 3;")), path + ":1:"));
}

TEST(GswoStrict, FormulasAreLookedAtByRun) {
  CpuRunner cpu(1);
  SwoFilterParams p{.op = SwoFilterOperator::custom};
  p.custom.cache_dir = "";
  p.custom.expression = "(int)*(int*)8";
  EXPECT_TRUE(has(refusal(cpu, strict(p)), "strict = true does not allow \"*\""));
}

}  // namespace
}  // namespace cudascan::test
