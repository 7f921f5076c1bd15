// SPDX-License-Identifier: LGPL-2.1-or-later
// Users' formulas: known values, comparisons with built-in operators, and constants.
#include "tests/usercode/custom.h"

namespace cudascan {
namespace {

using namespace test;

// ---- Formulas -----------------------------------------------------------------------------------

TEST(SwoFilterCustom, KnownValues) {
  CpuRunner cpu(1);
  const Image<std::uint8_t> in({10, 20, 30, 40, 50, 60, 70, 80, 255}, 3, 3);
  const auto middle = [&](const std::string &expression) {
    return +filtered(cpu, in, formula(expression))[4];
  };
  EXPECT_EQ(50, middle("p"));
  EXPECT_EQ(10, middle("p.min()"));
  EXPECT_EQ(255, middle("p.max()"));
  EXPECT_EQ(50, middle("p.median()"));
  EXPECT_EQ(68, middle("p.mean()"));  // 615 / 9 = 68.3
  EXPECT_EQ(9, middle("p.count()"));
  EXPECT_EQ(30, middle("p(1, -1)"));
  EXPECT_EQ(11, middle("x + 10 * y"));
  EXPECT_EQ(33, middle("width + height * 10"));
  EXPECT_EQ(133, middle("x / width * 400"));
  EXPECT_EQ(255, middle("x / (y - 1)"));
  EXPECT_EQ(255, middle("maximum"));
  EXPECT_EQ(205, middle("maximum - p"));
  EXPECT_EQ(1, middle("p > 49"));
  EXPECT_EQ(0, middle("p > 50"));
  EXPECT_EQ(50, middle("min(max(p, 20), 60)"));
  EXPECT_EQ(7, middle("sqrt(p)"));
  EXPECT_EQ(71, middle("p * sqrtf(2)"));  // 70.7
  EXPECT_EQ(20, middle("p.rank(1)"));
  EXPECT_EQ(255, middle("p.rank(1000)"));
}

TEST(SwoFilterCustom, ResultsAreRoundedAndEndAtTheLimits) {
  CpuRunner cpu(1);
  const auto in = picture(1, 1, Content::gray);  // 127
  const auto result = [&](const std::string &expression) {
    return +filtered(cpu, in, formula(expression))[0];
  };
  EXPECT_EQ(64, result("p * 0.5"));  // 63.5; halves are rounded up
  EXPECT_EQ(64, result("p * 0.5f"));
  EXPECT_EQ(63, result("p * 0.49999"));
  EXPECT_EQ(0, result("-p"));
  EXPECT_EQ(0, result("0.4999999f"));
  EXPECT_EQ(255, result("p * 1e30f"));
  EXPECT_EQ(255, result("p / 0"));
  EXPECT_EQ(0, result("(p - 127) / 0.0f"));  // not a number
  EXPECT_EQ(255, result("5000000000ll"));
  EXPECT_EQ(0, result("-5000000000ll"));
  EXPECT_EQ(255, result("3000000000u"));
  EXPECT_EQ(255, result("p.max() > 3 ? 1e300 : 0"));
}

struct BuiltIn {
  const char *expression;
  SwoFilterParams params;
};
const BuiltIn kBuiltIns[] = {
    {"p.min()", {.op = Op::minimum, .window = 5}},
    {"p.max()", {.op = Op::maximum, .window = 3, .shape = "100;000;000"}},
    {"p.max()", {.op = Op::maximum, .window = 255}},
    {"p.median()", {.op = Op::median, .window = 3}},
    {"p.median()", {.op = Op::median, .window = 7, .shape = "ellipse"}},
    {"p.median()", {.op = Op::median, .window = 13, .window_width = 11}},
    {"p.mean()", {.op = Op::mean, .window = 5, .window_height = 3}},
    {"p.mean()", {.op = Op::mean, .window = 17, .shape = "cross"}},
    {"p.mean()", {.op = Op::mean, .window = 15}},
    {"p.mean()", {.op = Op::mean, .window = 35, .window_height = 3}},
    {"p.mean()", {.op = Op::mean, .window = 3, .window_height = 31}},
    {"p.percentile(30)", {.op = Op::rank, .window = 5, .percentile = 30}},
};

template <typename T, typename Runner>
void expect_built_ins(Runner &runner, const Image<T> &in) {
  CpuRunner cpu;
  int turn = in.width();
  for (const BuiltIn &built_in : kBuiltIns)
    for (const Border border : {kBorders[turn++ % 4], kBorders[turn % 4]}) {
      SwoFilterParams p = built_in.params;
      p.border = border;
      p.border_value = 77;
      const auto expected = filtered(cpu, in, p);
      p.op = Op::custom;
      p.custom.expression = built_in.expression;
      p.custom.cache_dir = "";
      EXPECT_TRUE(same(expected, filtered(runner, in, p), in.width()))
          << built_in.expression << ", window " << p.window << ", shape " << p.shape << ", border "
          << static_cast<int>(border);
    }
}

TEST(SwoFilterCustom, WindowsAreThoseOfTheBuiltInOperators) {
  CpuRunner cpu(2);
  expect_built_ins(cpu, picture(301, 41, Content::random));
  expect_built_ins(cpu, picture(2, 3, Content::random));
}

TEST(SwoFilterCustom, DeepWindowsAreThoseOfTheBuiltInOperators) {
  CpuRunner cpu(2);
  expect_built_ins(cpu, deep_picture(91, 23));
}

#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, WindowsAreThoseOfTheBuiltInOperators) {
  NEED_GPU();
  CudaRunner cuda;
  expect_built_ins(cuda, picture(131, 41, Content::random));
  expect_built_ins(cuda, deep_picture(70, 67));
}
#endif

// ---- Constants ----------------------------------------------------------------------------------

TEST(SwoFilterCustom, EachRunHasItsConstants) {
  CpuRunner one(1), two(1);
  const auto in = picture(3, 3, Content::gray);
  SwoFilterParams p = formula("gain * p + offset");
  for (const double gain : {0.5, 2.0, 0.25}) {
    p.custom.constants = {{"gain", gain}, {"offset", std::int64_t{3}}};
    EXPECT_EQ(static_cast<int>(gain * 127 + 3.5),
              std::min(257, +filtered(one, in, p)[0] + (gain == 2.0) * 2));
    p.custom.constants = {{"gain", 1.0}, {"offset", std::int64_t{3}}};
    EXPECT_EQ(130, filtered(two, in, p)[0]);
  }
  p.custom.constants = {{"gain", 1.0}, {"offset", std::int64_t{4}}};
  EXPECT_EQ(131, filtered(one, in, p)[0]);
}

TEST(SwoFilterCustom, IntegersCanBeSizes) {
  CpuRunner cpu(1);
  const TemporaryFile file(
      "int filter(auto p) { int v[n]; for (int i = 0; i < n; ++i) v[i] = i; return v[n - 1]; }");
  SwoFilterParams p = code(file.path());
  p.custom.constants = {{"n", std::int64_t{42}}};
  EXPECT_EQ(41, filtered(cpu, picture(1, 1), p)[0]);
}

#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, EachRunHasItsConstants) {
  NEED_GPU();
  CudaRunner one, two;
  const auto in = picture(3, 3, Content::gray);
  SwoFilterParams p = formula("gain * p");
  for (const double gain : {0.5, 1.5, 0.25}) {
    p.custom.constants = {{"gain", gain}};
    EXPECT_EQ(static_cast<int>(gain * 127 + 0.5), filtered(one, in, p)[0]);
    p.custom.constants = {{"gain", 1.0}};
    EXPECT_EQ(127, filtered(two, in, p)[0]);
  }
}
#endif

std::vector<SwoFilterParams> checked_params() {
  std::vector<SwoFilterParams> all{
      formula("p.max() - p.min()"), formula("p.median() + fmod(x, 3)", 5),
      formula("p.mean() + p(-9, 4) / 4", 17, Border::reflect), formula("255 - p", 1)};
  all.push_back(formula("p.rank(k) * gain", 5, Border::constant));
  all.back().custom.constants = {{"k", std::int64_t{11}}, {"gain", 0.75}};
  all.back().shape = "ellipse";
  return all;
}

TEST(SwoFilterCustom, ResultDependsOnSamplesAlone) {
  expect_result_of_samples_alone(checked_params());
}
#ifdef HAVE_CUDA
TEST(SwoFilterCustomCuda, CudaEqualsCpu) {
  NEED_GPU();
  expect_cuda_equals_cpu(checked_params());
}
#endif

}  // namespace
}  // namespace cudascan
