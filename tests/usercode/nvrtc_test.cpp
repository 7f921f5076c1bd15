// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiling user code for the GPU and running it.
#include <thread>

#include "kernels/cuda_resources.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/gpu_module.h"
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

#ifndef EMULATED_GPU
class GswoCudaModule : public testing::Test {
 protected:
  void SetUp() override {
    NEED_GPU();
    NEED_NVRTC();
  }
  static std::vector<int> read(const cuda::DeviceBuffer &buffer, int n, CUstream_st *stream) {
    std::vector<int> values(n);
    cuda::copy_rows(values.data(), 0, buffer.data(), 0, n * sizeof(int), 1, stream);
    Cuda(stream).synchronize();
    return values;
  }
  Unit unit_ = unit("__constant__ int offset; __device__ int factor;\n" + kKernel +
                    "void kernel(int *to, int n) {\n"
                    "  int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y +\n"
                    "          threadIdx.y * blockDim.x + threadIdx.x;\n"
                    "  if (i < n) to[i] = factor * i + offset;\n}\n");
};

TEST_F(GswoCudaModule, RunsKernelsWithItsVariables) {
  Unit named = unit_;
  named.main.text = "extern \"C\" {" + unit_.main.text.substr(0, unit_.main.text.find('\n')) + "}" +
                    unit_.main.text.substr(unit_.main.text.find('\n'));
  const cuda::Stream stream;
  // Also with PTX, for an architecture that NVRTC does not know but that the device can run.
  std::vector<std::string> codes = {compile_for_gpu(named, gpu_architecture(), {})};
  codes.push_back(compile_for_gpu(named, 76, {}));
  for (const std::string &code : codes) {
    GpuModule module(code), other(code);
    constexpr int kN = 1000;
    cuda::DeviceBuffer buffer(kN * sizeof(int));
    void *data = buffer.data();
    int n = kN, offset = 7, factor = 3;
    void *args[] = {&data, &n};
    const auto run = [&](GpuModule &with) {
      with.launch("kernel", 4, 3, 32, 4, stream.get(), args);
      return read(buffer, kN, stream.get());
    };
    module.set_global("offset", &offset, sizeof(offset), stream.get());
    module.set_global("factor", &factor, sizeof(factor), stream.get());
    offset = 100;  // the module has its own copy
    module.set_global("absent", &offset, sizeof(offset), stream.get());
    const std::vector<int> values = run(module);
    for (int i = 0; i < kN; ++i) ASSERT_EQ(values[i], 3 * i + 7);
    EXPECT_EQ(run(other), std::vector<int>(kN, 0));
    // The stream keeps the order: the first launch still uses the first value.
    cuda::DeviceBuffer second(kN * sizeof(int));
    void *second_data = second.data();
    void *second_args[] = {&second_data, &n};
    module.launch("kernel", 4, 3, 32, 4, stream.get(), args);
    module.set_global("offset", &offset, sizeof(offset), stream.get());
    module.launch("kernel", 4, 3, 32, 4, stream.get(), second_args);
    EXPECT_EQ(read(buffer, kN, stream.get())[5], 22);
    EXPECT_EQ(read(second, kN, stream.get())[5], 115);
  }
}

TEST_F(GswoCudaModule, SaysWhatIsWrong) {
  GpuModule module(compile_for_gpu(unit_, gpu_architecture(), {}));
  EXPECT_TRUE(has(message_of<Error>([&] { module.launch("absent", 1, 1, 1, 1, nullptr, nullptr); }),
                  "looking for the kernel absent"));
  EXPECT_TRUE(
      has(message_of<Error>([] { GpuModule("neither cubin nor PTX"); }), "loading the code"));
  std::string ptx = compile_for_gpu(unit_, 76, {});
  ptx.insert(ptx.find("ret;"), "no.such.instruction;\n");
  EXPECT_TRUE(has(message_of<Error>([&] { GpuModule{ptx}; }), "ptxas"));
}
#endif

#ifndef HAVE_CUDA
TEST(GswoModule, NeedsCuda) {
  EXPECT_TRUE(has(message_of<Error>([] { GpuModule("code"); }), "has no CUDA"));
}
#endif

}  // namespace
}  // namespace cudascan
