// SPDX-License-Identifier: LGPL-2.1-or-later
// Times of OpenCV: by the module of opencv_peer.cpp in the folder of the program, or else by the
// python3 of PATH if that has OpenCV.
#include <dlfcn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "bench/bench.h"
#include "bench/opencv_peer.h"
#include "examples/bench/opencv_python.h"  // from meson.build

namespace cudascan::bench {
namespace {

OpenCvEntry *load_entry() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string path = program.parent_path() / "libcudascan-bench-opencv.so";
  void *module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<OpenCvEntry *>(module ? dlsym(module, kOpenCvEntry) : nullptr);
}

/// A process of Python with opencv_python.py.
class OpenCvProcess {
 public:
  OpenCvProcess() {
    signal(SIGPIPE, SIG_IGN);  // if Python ends, writing fails
    int to[2], from[2];
    if (pipe(to) != 0 || pipe(from) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      for (const int end : {to[0], to[1], from[0], from[1]}) close(end);
      if (freopen("/dev/null", "w", stderr))
        execlp("python3", "python3", "-c", kOpenCvScript, nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = fdopen(to[1], "wb");
    from_ = fdopen(from[0], "rb");
    version_ = line();
  }
  ~OpenCvProcess() {
    if (to_) std::fclose(to_);
    if (from_) std::fclose(from_);
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  OpenCvProcess(const OpenCvProcess &) = delete;
  OpenCvProcess &operator=(const OpenCvProcess &) = delete;

  /// Empty if there is no Python with OpenCV.
  const std::string &version() const { return version_; }

  double us(AnyPlane in, const OpenCv &peer, double budget_us, int repeat) {
    std::ostringstream request;
    request << peer.function << ' ' << in.width << ' ' << in.height << ' ' << in.depth << ' '
            << in.stride << ' ' << budget_us << ' ' << repeat;
    for (const double setting : peer.settings) request << ' ' << setting;
    std::fprintf(to_, "%s\n", request.str().c_str());
    std::fwrite(in.data, in.stride, in.height, to_);
    std::fflush(to_);
    const std::string answer = line();
    return answer.empty() ? kUnknown : std::strtod(answer.c_str(), nullptr);
  }

 private:
  /// The next line of the output; empty at its end.
  std::string line() {
    char text[256] = "";
    if (!from_ || !std::fgets(text, sizeof text, from_)) return "";
    std::string result = text;
    result.resize(result.find_last_not_of("\r\n") + 1);
    return result;
  }

  pid_t child_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
  std::string version_;
};

double python_us(AnyPlane in, const OpenCv &peer, double budget_us, int repeat) {
  static OpenCvProcess process;
  static const bool there = [] {
    if (process.version().empty())
      std::printf(
          "(no times of OpenCV: neither libcudascan-bench-opencv.so is next to the program "
          "nor has python3 cv2)\n");
    else
      std::printf("(times of OpenCV %s, by python3)\n", process.version().c_str());
    return !process.version().empty();
  }();
  return there ? process.us(in, peer, budget_us, repeat) : kUnknown;
}

}  // namespace

double opencv_us(AnyPlane in, AnyPlane out, const OpenCv &peer, const Options &options) {
  static OpenCvEntry *const entry = load_entry();
  const double budget_us = options.quick ? 60e3 : 300e3;
  if (!entry) return python_us(in, peer, budget_us, options.repeat);
  bool ok = true;
  const double us = time_host(
      [&] {
        ok &= entry(peer.function.c_str(), peer.settings.data(), in.data, out.data, in.width,
                    in.height, in.depth, in.stride);
      },
      budget_us, options.repeat);
  return ok ? us : kUnknown;
}

}  // namespace cudascan::bench
