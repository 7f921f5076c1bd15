// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiling user code for the GPU.
#include <thread>

#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "tests/usercode/units.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

TEST(GswoNvrtc, MakesCubinsAndPtx) {
  NEED_NVRTC();
  Unit u = unit("#include <gswo/line.h>\n" + kKernel +
                "void kernel(float *x) { x[1] = line(x[0], SLOPE, x[1]); }\n");
  u.headers = {{"gswo/line.h", "float line(float a, float b, float c) { return a * b + c; }\n"}};
  u.defines = {"SLOPE=x[2]"};
  EXPECT_TRUE(compile_for_gpu(u, 90, {}).starts_with("\177ELF"));
  const std::string ptx = compile_for_gpu(u, 9999, {});
  EXPECT_TRUE(has(ptx, ".target sm_"));
  EXPECT_TRUE(has(ptx, ".entry kernel"));
  EXPECT_EQ(ptx.find('\0'), std::string::npos);
  EXPECT_TRUE(has(ptx, "mul.rn.f32"));  // the driver must not fuse mul.rn.f32; it may fuse mul.f32
  EXPECT_TRUE(has(ptx, "add.rn.f32"));
  EXPECT_FALSE(has(ptx, "fma"));
  EXPECT_TRUE(has(message_of<Error>([&] { compile_for_gpu(u, 10, {}); }), "this GPU is sm_10"));
}

TEST(GswoNvrtc, ErrorsAreAtTheUsersLines) {
  NEED_NVRTC();
  expect_errors_at_lines([](const Unit &u) { compile_for_gpu(u, 90, {}); }, "/tmp/");
  EXPECT_TRUE(has(message_of<BadSetting>([] {
                    compile_for_gpu(
                        unit("int g(int);\n" + kKernel + "void kernel(int *x) { *x = g(*x); }\n"),
                        90, {});
                  }),
                  "'g(int)'"));
}

TEST(GswoNvrtc, IsNotWaitedForTooLong) {
  NEED_NVRTC();
  const Unit slow = unit(
      "template <int n, int m> struct Sum {\n"
      "  static constexpr long value = Sum<n - 1, 2 * m>::value + Sum<n - 1, 2 * m + "
      "1>::value;\n};\n"
      "template <int m> struct Sum<0, m> { static constexpr long value = m; };\n" +
      kKernel + "void kernel(long *x) { *x = Sum<10, 1>::value; }\n");
  EXPECT_TRUE(
      has(message_of<Error>([&] { compile_for_gpu(slow, 90, {}, std::chrono::milliseconds(1)); }),
          "took too long for user.cpp"));
  EXPECT_FALSE(compile_for_gpu(slow, 90, {}).empty());  // by then the first one is finished, too
}

TEST(GswoNvrtc, IsNotAskedTwice) {
  NEED_NVRTC();
  const PrivateFolder cache;
  const Unit u = unit(kKernel + "void kernel() {}\n");
  const std::string code = compile_for_gpu(u, 90, {cache.path()});
  ASSERT_EQ(files_in(cache.path()).size(), 1u);
  const std::filesystem::path file = files_in(cache.path()).front();
  std::filesystem::remove(file);
  CodeCache(cache.path()).find_or_make(file.filename(), [] { return std::string("planted"); });
  EXPECT_EQ(compile_for_gpu(u, 90, {cache.path()}), "planted");
  EXPECT_NE(compile_for_gpu(u, 80, {cache.path()}), "planted");
  write_file(file, "damaged");
  EXPECT_EQ(compile_for_gpu(u, 90, {cache.path()}), code);
}

}  // namespace
}  // namespace cudascan
