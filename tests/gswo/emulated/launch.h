// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes a stand-alone program of gswo-cc, in which emulated::launch() replaced its launches,
/// ordinary C++ with an emulated device.
#pragma once
#include "../cuda_emulation.h"
#include "cuda_runtime.h"
#define __host__

#include <tuple>

namespace gswo {
/// Textures are not emulated.
struct Texture {
  unsigned long long texture;
  int width, height, ox, oy;
};
}  // namespace gswo

namespace emulated {

using Emulate = void (*)(void *library, void (*kernel)(void **), void **arguments, const int *grid,
                         const int *block);
inline void *library;
inline Emulate emulate;

template <class... P>
void queue(const dim3 &grid, const dim3 &block, void (*kernel)(P...),
           const std::tuple<P...> &given) {
  device().add([=, arguments = given]() mutable {
    static void (*now)(P...);
    now = kernel;
    std::apply(
        [&](auto &...a) {
          void *pointers[] = {&a...};
          const int blocks[] = {static_cast<int>(grid.x), static_cast<int>(grid.y),
                                static_cast<int>(grid.z)},
                    threads[] = {static_cast<int>(block.x), static_cast<int>(block.y),
                                 static_cast<int>(block.z)};
          emulate(
              library, [](void **values) { emulated_call(now, values); }, pointers, blocks,
              threads);
        },
        arguments);
  });
}
template <class... P, class... A>
void launch(const dim3 &grid, const dim3 &block, void (*kernel)(P...), A... given) {
  device().launches++;
  queue(grid, block, kernel, std::tuple<P...>(given...));
}

}  // namespace emulated

/// Launches a kernel of the run time.
template <class... P>
cudaError_t cudaLaunchKernel(void (*kernel)(P...), dim3 grid, dim3 block, void **arguments,
                             std::size_t, cudaStream_t) {
  emulated::queue(grid, block, kernel, std::tuple<P...>{*static_cast<P *>(*arguments++)...});
  return cudaSuccess;
}

extern "C" inline __attribute__((used)) void emulated_begin(void *library,
                                                            emulated::Emulate emulate) {
  emulated::library = library;
  emulated::emulate = emulate;
}
extern "C" inline __attribute__((used)) void emulated_limit(long long bytes) {
  emulated::device().most = emulated::device().used + static_cast<std::size_t>(bytes);
}
