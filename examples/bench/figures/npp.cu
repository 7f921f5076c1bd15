// SPDX-License-Identifier: LGPL-2.1-or-later
// The filters of Figure 6b by NPP, which the GPU filters of OpenCV 2.4 called. NPP is loaded at run
// time; the declarations are those of NPP 12 and 13.
//
//     npp min|max|erosion|dilation WINDOW --width ...
#include <dlfcn.h>

#include "cuda_times.h"

namespace {

using figures::need;
using Pixel = unsigned short;

struct NppiSize {
  int width, height;
};
struct NppiPoint {
  int x, y;
};
struct NppStreamContext {
  cudaStream_t stream;
  int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
  std::size_t shared_memory_per_block;
  int capability_major, capability_minor;
  unsigned stream_flags;
  int reserved;
};
using Rank = int (*)(const Pixel *, int, Pixel *, int, NppiSize, NppiSize, NppiPoint,
                     NppStreamContext);
using Morphology = int (*)(const Pixel *, int, Pixel *, int, NppiSize, const unsigned char *,
                           NppiSize, NppiPoint, NppStreamContext);

void *open_library(const std::string &name) {
  std::vector<std::string> folders{"", "/usr/local/cuda/lib64/",
                                   "/usr/local/cuda/targets/x86_64-linux/lib/"};
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *root = std::getenv(variable)) folders.push_back(std::string(root) + "/lib64/");
  for (const std::string &folder : folders)
    for (const char *version : {".so.13", ".so.12"})
      // Global: the filters need symbols of libnppc and may not find it themselves.
      if (void *library = dlopen((folder + "lib" + name + version).c_str(), RTLD_NOW | RTLD_GLOBAL))
        return library;
  figures::fail("no NPP");
}

NppStreamContext make_context() {
  NppStreamContext context{};
  need(cudaGetDevice(&context.device), "cudaGetDevice");
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    need(cudaDeviceGetAttribute(&value, which, context.device), "cudaDeviceGetAttribute");
    return value;
  };
  context.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  context.threads_per_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  context.threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock);
  context.shared_memory_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  context.capability_major = attribute(cudaDevAttrComputeCapabilityMajor);
  context.capability_minor = attribute(cudaDevAttrComputeCapabilityMinor);
  return context;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc < 3) figures::fail("npp FILTER WINDOW --width ...");
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) figures::fail("no GPU");
  const std::string filter = argv[1];
  const int window = std::atoi(argv[2]);
  open_library("nppc");
  const bool rank = filter == "min" || filter == "max";
  const char *name = filter == "min"       ? "nppiFilterMin_16u_C1R_Ctx"
                     : filter == "max"     ? "nppiFilterMax_16u_C1R_Ctx"
                     : filter == "erosion" ? "nppiErode_16u_C1R_Ctx"
                                           : "nppiDilate_16u_C1R_Ctx";
  void *function = dlsym(open_library(rank ? "nppif" : "nppim"), name);
  if (!function) figures::fail(std::string("NPP has no ") + name);
  const NppStreamContext context = make_context();
  unsigned char *mask = nullptr;
  need(cudaMalloc(&mask, window * window), "cudaMalloc");
  need(cudaMemset(mask, 1, window * window), "cudaMemset");

  const auto apply = [&](figures::Images<Pixel> &images, int rows) {
    const std::size_t row = (images.width() + 2 * figures::kMargin) * sizeof(Pixel);
    const int all = rows + 2 * figures::kMargin;
    Pixel *in = nullptr, *out = nullptr;
    std::size_t pitch = 0;
    need(cudaMallocPitch(&in, &pitch, row, all), "cudaMallocPitch");
    need(cudaMallocPitch(&out, &pitch, row, all), "cudaMallocPitch");
    need(cudaMemcpy2D(in, pitch, images.flat(0), row, row, all, cudaMemcpyHostToDevice),
         "cudaMemcpy2D");
    const std::size_t first = figures::kMargin * (pitch / sizeof(Pixel)) + figures::kMargin;
    const NppiSize size{images.width(), rows}, side{window, window};
    const NppiPoint anchor{window / 2, window / 2};
    figures::launch([&] {
      const int bytes = static_cast<int>(pitch);
      const int status =
          rank ? reinterpret_cast<Rank>(function)(in + first, bytes, out + first, bytes, size, side,
                                                  anchor, context)
               : reinterpret_cast<Morphology>(function)(in + first, bytes, out + first, bytes, size,
                                                        mask, side, anchor, context);
      if (status != 0) figures::fail(std::string(name) + " returned " + std::to_string(status));
    });
    need(cudaMemcpy2D(images.row(1, 0), row, out + first, pitch, images.width() * sizeof(Pixel),
                      rows, cudaMemcpyDeviceToHost),
         "cudaMemcpy2D");
    cudaFree(in);
    cudaFree(out);
  };
  return figures::run_cuda<Pixel>(argc - 2, argv + 2, 2, false, apply);
}
