// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled code on the GPU. The emulated one has modules of its own.
#include "kernels/usercode/gpu_module.h"

#include "kernels/cuda_resources.h"
#include "kernels/usercode/compile.h"
#include "tests/usercode/units.h"

namespace cudascan {
namespace {

using namespace gswo;
using namespace test;

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

}  // namespace
}  // namespace cudascan
