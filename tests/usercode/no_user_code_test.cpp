// SPDX-License-Identifier: LGPL-2.1-or-later
// Builds without support for user code refuse it.
#include <gtest/gtest.h>

#include "kernels/swofilter.h"
#include "tests/kernels/operator_test.h"
#include "tests/usercode/support.h"

namespace cudascan {
namespace {

using namespace test;

std::string refusal(const SwoFilterParams &p) {
  Cpu cpu(1);
  const Image<std::uint8_t> in(8, 8);
  Image<std::uint8_t> out(8, 8);
  return message_of<BadSetting>([&] { run(cpu, in.plane(), out.plane(), p); });
}

TEST(SwoFilterNoUserCode, FormulasAndFilesAreRefused) {
  SwoFilterParams p{.op = SwoFilterOperator::custom};
  p.custom.expression = "p";
  EXPECT_TRUE(has(refusal(p), "this build of gst-cudascan takes no user code"));
  const gswo::PrivateFolder folder;
  for (const char *text :
       {"float filter(auto p) { return p; }",
        "void f(int **a, int **b, int h, int w) {\n#pragma parallel\n{\n#pragma for nest(2)\n"
        "for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) b[y][x] = a[y][x];\n}\n}\n"}) {
    folder.write("filter.cpp", text);
    p.custom.expression.clear();
    p.custom.source = folder.path() + "/filter.cpp";
    EXPECT_TRUE(has(refusal(p), "this build of gst-cudascan takes no user code")) << text;
  }
}

TEST(SwoFilterNoUserCode, OperatorsRun) {
  Cpu cpu(1);
  const Image<std::uint8_t> in(8, 8);
  Image<std::uint8_t> out(8, 8);
  run(cpu, in.plane(), out.plane(), SwoFilterParams{});
}

}  // namespace
}  // namespace cudascan
