// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiles for the GPU with NVRTC.
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "common/error.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/compiler_messages.h"
#include "kernels/usercode/nvrtc.h"

namespace cudascan::gswo {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLongest{30'000}, kPatience{10};
constexpr const char *kOptions[] = {"--std=c++20", "--fmad=false",
                                    "--device-as-default-execution-space", "--disable-warnings"};
// NVRTC searches headers in the folder of the named file; this folder is empty.
constexpr const char *kNowhere = "/dev/null/";

struct Target {
  std::string option;
  bool cubin;
};

Target target_for(const Nvrtc &nvrtc, int architecture) {
  const auto &known = nvrtc.architectures;
  const auto above = std::upper_bound(known.begin(), known.end(), architecture);
  if (above == known.begin())
    throw Error("NVRTC " + std::to_string(nvrtc.major) + "." + std::to_string(nvrtc.minor) +
                " compiles for sm_" + std::to_string(known.empty() ? 0 : known.front()) +
                " and newer, but this GPU is sm_" + std::to_string(architecture) +
                "; install the libnvrtc of an older CUDA Toolkit (12.x goes down to sm_50), or use "
                "backend=cpu");
  const int best = *(above - 1);
  const bool exact = best == architecture;
  return {"--gpu-architecture=" + std::string(exact ? "sm_" : "compute_") + std::to_string(best),
          exact};
}

struct Limit {
  Clock::time_point deadline;
  std::stop_token stop;
  bool is_over() const { return stop.stop_requested() || Clock::now() > deadline; }
};

class Program {
 public:
  Program(const Nvrtc &nvrtc, const Unit &unit) : nvrtc_(nvrtc) {
    std::vector<const char *> texts, names;
    for (const SourceText &header : unit.headers) {
      texts.push_back(header.text.c_str());
      names.push_back(header.name.c_str());
    }
    const Nvrtc::Result result = nvrtc_.create_program(
        &program_, named_text(unit.main).c_str(), (std::string(kNowhere) + "main.cu").c_str(),
        static_cast<int>(texts.size()), texts.data(), names.data());
    if (result != Nvrtc::success)
      throw Error("NVRTC cannot start: " + std::string(nvrtc_.get_error_string(result)) +
                  "; check the installation of the CUDA Toolkit");
  }
  ~Program() { nvrtc_.destroy_program(&program_); }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  /// @param limit  ends it early, if NVRTC supports that and asks
  Nvrtc::Result compile(const std::vector<std::string> &options, const Limit &limit) {
    std::vector<const char *> pointers;
    for (const std::string &option : options) pointers.push_back(option.c_str());
    limit_ = limit;
    if (nvrtc_.set_flow_callback) nvrtc_.set_flow_callback(program_, is_over, &limit_);
    return nvrtc_.compile_program(program_, static_cast<int>(pointers.size()), pointers.data());
  }

  std::string log() const { return text(nvrtc_.get_program_log_size, nvrtc_.get_program_log); }
  std::string ptx() const { return text(nvrtc_.get_ptx_size, nvrtc_.get_ptx); }
  std::string cubin() const { return bytes(nvrtc_.get_cubin_size, nvrtc_.get_cubin); }

 private:
  static int is_over(void *limit, void *) { return static_cast<const Limit *>(limit)->is_over(); }

  using Size = Nvrtc::Result (*)(Nvrtc::Program, std::size_t *);
  using Get = Nvrtc::Result (*)(Nvrtc::Program, char *);
  std::string bytes(Size size, Get get) const {
    std::size_t n = 0;
    if (size(program_, &n) != Nvrtc::success) return {};
    std::string bytes(n, '\0');
    return get(program_, bytes.data()) == Nvrtc::success ? bytes : std::string();
  }
  // Without the terminating zero.
  std::string text(Size size, Get get) const { return bytes(size, get).c_str(); }

  const Nvrtc &nvrtc_;
  Nvrtc::Program program_ = nullptr;
  Limit limit_;
};

[[noreturn]] void refuse_slow(const Unit &unit) {
  throw Error("NVRTC timed out: it took too long for " + unit.main.name +
              "; make the code smaller (shorter loops, a smaller window)");
}

struct CompileJob {
  Unit unit;
  std::vector<std::string> options;
  bool cubin;
  Limit limit;
};

std::string compile(const Nvrtc &nvrtc, const CompileJob &job) {
  const Unit &unit = job.unit;
  Program program(nvrtc, unit);
  const Nvrtc::Result result = program.compile(job.options, job.limit);
  if (result == Nvrtc::success) {
    std::string code = job.cubin ? program.cubin() : program.ptx();
    if (!code.empty()) return code;
  }
  if (result == Nvrtc::error_cancelled) refuse_slow(unit);
  const CompilerMessages messages = shorten(program.log(), {kNowhere});
  if (messages.blames_code) throw BadSetting(messages.text);
  throw Error("NVRTC failed at " + unit.main.name + " (" + nvrtc.get_error_string(result) +
              "); make the code simpler, or check the installation of the CUDA Toolkit" +
              (messages.text.empty() ? "" : "\n" + messages.text));
}

// NVRTC does not ask while it reads the text, and threads cannot be stopped. So a thread that takes
// too long, or should stop, is left running.
std::string compile_in_time(const Nvrtc &nvrtc, CompileJob job) {
  const Unit unit = job.unit;
  const Limit limit = job.limit;
  std::packaged_task<std::string()> task(
      [&nvrtc, job = std::move(job)] { return compile(nvrtc, job); });
  std::future<std::string> code = task.get_future();
  std::thread(std::move(task)).detach();
  while (code.wait_for(kPatience) == std::future_status::timeout) {
    check_not_stopped(limit.stop);
    if (limit.is_over()) refuse_slow(unit);
  }
  check_not_stopped(limit.stop);
  return code.get();
}

}  // namespace

std::string compile_for_gpu(const Unit &unit, int architecture, const CodeOptions &options,
                            std::chrono::milliseconds longest) {
  check_unit(unit);
  const Nvrtc &nvrtc = gswo::nvrtc();
  const Target target = target_for(nvrtc, architecture);
  std::vector<std::string> all(std::begin(kOptions), std::end(kOptions));
  all.push_back(target.option);
  for (const std::string &define : unit.defines) all.push_back("--define-macro=" + define);

  Digest digest = digest_of(unit);
  digest.add("gpu").add(nvrtc.major).add(nvrtc.minor);
  struct stat library;
  if (stat(nvrtc.path.c_str(), &library) == 0)
    digest.add(library.st_size).add(library.st_mtim.tv_sec).add(library.st_mtim.tv_nsec);
  for (const std::string &option : all) digest.add(option);
  return CodeCache(options.cache_dir).find_or_make(digest.hex(), [&] {
    return compile_in_time(nvrtc,
                           {unit, all, target.cubin, {Clock::now() + longest, options.stop}});
  });
}

std::string compile_for_gpu(const Unit &unit, int architecture, const CodeOptions &options) {
  return compile_for_gpu(unit, architecture, options, kLongest);
}

}  // namespace cudascan::gswo
