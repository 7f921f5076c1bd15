// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads the module of opencv_peer.cpp from the folder of the program.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

#include "bench/bench.h"
#include "bench/opencv_peer.h"

namespace cudascan::bench {
namespace {

OpenCvEntry *load_entry() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = program.parent_path() / "libcudascan-bench-opencv.so";
  void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *symbol = module ? dlsym(module, kOpenCvEntry) : nullptr;
  if (!symbol) std::printf("(no times of OpenCV: %s)\n", dlerror());
  return reinterpret_cast<OpenCvEntry *>(symbol);
}

}  // namespace

double opencv_us(AnyPlane in, AnyPlane out, const OpenCv &peer, const Options &options) {
  static OpenCvEntry *const entry = load_entry();
  if (!entry) return kUnknown;
  bool ok = true;
  const double us = time_host(
      [&] {
        ok &= entry(peer.function.c_str(), peer.settings.data(), in.data, out.data, in.width,
                    in.height, in.depth, in.stride);
      },
      options.quick ? 60e3 : 300e3, options.repeat);
  return ok ? us : kUnknown;
}

}  // namespace cudascan::bench
