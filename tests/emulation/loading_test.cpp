// SPDX-License-Identifier: LGPL-2.1-or-later
// CudaLoader loads all kernels that an operator launches, and does nothing else.
#include <cuda_runtime.h>

#include "all_operators.h"
#include "tests/kernels/operator_test.h"
#include "tests/random/settings.h"

namespace cudascan::test {
namespace {

/// As long as it exists, launches run no kernels: which ones are launched does not depend on them.
struct NoKernels {
  NoKernels() { emulation::run_kernels(false); }
  ~NoKernels() { emulation::run_kernels(true); }
};

/// Loads the kernels for settings drawn at random, then runs the operator.
template <typename T, typename Params>
void expect_all_loaded(T maximum) {
  const NoKernels no_kernels;
  for (int i = 0; i < 300; ++i) {
    Dice dice(i);
    Params params;
    const int width = dice.size(900), height = dice.size(600);
    draw(dice, {width, height, maximum, true}, params);
    SCOPED_TRACE(testing::Message() << width << "x" << height << ", " << text_of(params));
    emulation::limit_shared_memory(emulation::kSharedPerBlock);  // no kernel counts as loaded
    cuda::DeviceBuffer in(width * height * sizeof(T)), out(width * height * sizeof(T));
    const auto plane_of = [&](void *data) {
      return Plane<T>{static_cast<T *>(data), width, height,
                      static_cast<std::ptrdiff_t>(width * sizeof(T)), maximum};
    };
    // Nothing is read or written here; only the alignment of the address matters.
    const auto nowhere = plane_of(reinterpret_cast<void *>(std::uintptr_t{1} << 40));
    typename Params::Report ignored, report;
    CudaLoader loader;
    cuda::Stream stream;
    Cuda cuda(stream.get());
    try {
      run(loader, Plane<const T>(nowhere), nowhere, params, &ignored);
    } catch (const BadSetting &) {
      continue;
    }
    const std::size_t loaded = emulation::kernels_with_limit();
    run(cuda, Plane<const T>(plane_of(in.data())), plane_of(out.data()), params, &report);
    cuda.synchronize();
    EXPECT_EQ(loaded, emulation::kernels_with_limit());
  }
}
#define LOADS_ITS_KERNELS(op, Name)                         \
  TEST(CudaLoader, LoadsTheKernelsOf##Name) {               \
    expect_all_loaded<std::uint8_t, Name##Params>(0xff);    \
    expect_all_loaded<std::uint16_t, Name##Params>(0xffff); \
  }
CUDASCAN_OPERATORS(LOADS_ITS_KERNELS)

}  // namespace
}  // namespace cudascan::test
