// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/nvrtc.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "common/error.h"

namespace cudascan::gswo {
namespace {

constexpr const char *kRemedy =
    "; install the CUDA Toolkit, or its libnvrtc alone, 12.0 or newer (Debian, Ubuntu: NVIDIA's "
    "package cuda-nvrtc-13-0; Fedora: cuda-nvrtc-13-0; Arch: cuda), and set the environment "
    "variable "
    "CUDA_HOME if it is in an unusual place; without it use backend=cpu";

// The linker's folders, then the folders of toolkits that are unknown to the linker.
std::vector<std::string> folders() {
  std::vector<std::string> folders = {""};
  std::vector<std::string> toolkits = {"/usr/local/cuda", "/opt/cuda"};
  if (const char *home = std::getenv("CUDA_HOME"); home && *home == '/')
    toolkits.insert(toolkits.begin(), home);
  for (const std::string &toolkit : toolkits)
    for (const char *below : {"/lib64/", "/lib/"}) folders.push_back(toolkit + below);
  return folders;
}

void *open_library() {
  for (const std::string &folder : folders())
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"})
      if (void *library = dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  throw Error(std::string("user code on the GPU needs NVRTC, but no libnvrtc was found") + kRemedy);
}

// NVRTC loads its other half by name; the linker finds it because it is already loaded.
void open_builtins(const Nvrtc &nvrtc) {
  const std::string folder = nvrtc.path.substr(0, nvrtc.path.rfind('/') + 1);
  const std::string name = folder + "libnvrtc-builtins.so." + std::to_string(nvrtc.major) + '.' +
                           std::to_string(nvrtc.minor);
  dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// Never closed: it has its own threads and memory.
Nvrtc load() {
  void *library = open_library();
  bool complete = true;
  const auto find = [&](auto &function, const char *name, bool optional = false) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    complete &= function || optional;
  };
  Nvrtc n{};
  find(n.version, "nvrtcVersion");
  find(n.get_num_supported_archs, "nvrtcGetNumSupportedArchs");
  find(n.get_supported_archs, "nvrtcGetSupportedArchs");
  find(n.get_error_string, "nvrtcGetErrorString");
  find(n.create_program, "nvrtcCreateProgram");
  find(n.destroy_program, "nvrtcDestroyProgram");
  find(n.compile_program, "nvrtcCompileProgram");
  find(n.get_program_log_size, "nvrtcGetProgramLogSize");
  find(n.get_program_log, "nvrtcGetProgramLog");
  find(n.get_ptx_size, "nvrtcGetPTXSize");
  find(n.get_ptx, "nvrtcGetPTX");
  find(n.get_cubin_size, "nvrtcGetCUBINSize");
  find(n.get_cubin, "nvrtcGetCUBIN");
  find(n.set_flow_callback, "nvrtcSetFlowCallback", true);
  int n_architectures = 0;
  if (!complete || n.version(&n.major, &n.minor) != Nvrtc::success || n.major < 12 ||
      n.get_num_supported_archs(&n_architectures) != Nvrtc::success)
    throw Error(std::string("the installed NVRTC is older than 12.0 or damaged") + kRemedy);
  n.architectures.resize(n_architectures);
  n.get_supported_archs(n.architectures.data());
  std::sort(n.architectures.begin(), n.architectures.end());
  Dl_info info{};
  if (dladdr(reinterpret_cast<void *>(n.version), &info) && info.dli_fname) n.path = info.dli_fname;
  open_builtins(n);
  return n;
}

}  // namespace

const Nvrtc &nvrtc() {
  // Never destroyed: threads of compile_for_gpu() may outlive main().
  static const Nvrtc &loaded = *new Nvrtc(load());
  return loaded;
}

}  // namespace cudascan::gswo
