// SPDX-License-Identifier: LGPL-2.1-or-later
// Loads the module of opencv_peer.cpp from the folder of the program.
#include <dlfcn.h>

#include <cstdio>
#include <filesystem>

#include "bench/bench.h"

namespace cudascan::bench {
namespace {

using Niblack = bool (*)(void *in, void *out, int width, int height, std::size_t stride, int window,
                         double k, int method);

Niblack load_niblack() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = program.parent_path() / "libcudascan-bench-opencv.so";
  void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  void *symbol = module ? dlsym(module, "cudascan_bench_opencv_niblack") : nullptr;
  if (!symbol) std::printf("(no times of OpenCV: %s)\n", dlerror());
  return reinterpret_cast<Niblack>(symbol);
}

}  // namespace

double opencv_niblack_us(AnyPlane in, AnyPlane out, const Case &c, const Options &options) {
  static const Niblack niblack = load_niblack();
  if (!niblack || in.depth != 8) return kUnknown;
  bool ok = true;
  const double us = time_host(
      [&] {
        ok &= niblack(in.data, out.data, in.width, in.height, in.stride, c.peer_window, c.peer_k,
                      c.peer_method);
      },
      options.quick ? 60e3 : 300e3, options.repeat);
  return ok ? us : kUnknown;
}

}  // namespace cudascan::bench
