// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiles for the CPU with the system's C++ compiler or, if there is none, with gswo-cc.
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "common/error.h"
#include "kernels/usercode/code_cache.h"
#include "kernels/usercode/compile.h"
#include "kernels/usercode/compiler_messages.h"
#include "kernels/usercode/includes.h"
#include "kernels/usercode/private_folder.h"
#include "kernels/usercode/program_file.h"

namespace cudascan::gswo {
namespace {

using End = ProcessResult::End;

// Both g++ and clang++ support all of these; gswo/shared_object.cpp has the equivalents for
// gswo-cc. -g1 -gdwarf-4 lets the linker name lines and files as #line does; -s removes that from
// the result. -Bsymbolic separates variables from those of the same name in the program.
constexpr const char *kFlags[] = {
    "-std=c++20", "-O2",
    // The rest of -O3 takes longer than it saves. The cost
    // model is "dynamic", which clang++ does not accept as an option.
    "-ftree-vectorize", "-fvect-cost-model", "-march=native",
    // GCC would compute all samples of a window before it uses the
    // first one, and has no registers for so many.
    "-fno-tree-ter", "-fno-math-errno", "-fno-trapping-math", "-fno-exceptions",
    "-ffp-contract=off", "-shared", "-fPIC", "-nostdinc", "-nostdinc++", "-fvisibility=hidden",
    "-w", "-g1", "-gdwarf-4", "-fmax-errors=20", "-Wl,-Bsymbolic", "-Wl,-z,defs", "-Wl,-s"};

struct Compiler {
  ProgramFile program;
  std::vector<std::string> flags;  // flags for a shared object
  bool is_gswo_cc = false;
};

Compiler find_compiler() {
  const std::vector<std::string> flags(std::begin(kFlags), std::end(kFlags));
  const char *chosen = std::getenv("CUDASCAN_CXX");
  if (chosen && *chosen) {
    if (const auto found = find_program(chosen)) return {*found, flags};
    throw Error(std::string("the C++ compiler ") + chosen +
                ", which the environment variable CUDASCAN_CXX names, is not a program that can be "
                "run; set it to the path of g++ or clang++, without arguments");
  }
  for (const char *name : {"c++", "g++", "clang++"})
    if (const auto found = find_program(name)) return {*found, flags};
  if (const auto found = find_gswo_cc()) return {*found, {"--emit", "so"}, true};
  throw Error(
      "user code on the CPU needs a C++ compiler, but none of c++, g++ and clang++ is in PATH; "
      "install one (Debian, Ubuntu: apt install g++; Fedora: dnf install gcc-c++; Arch: pacman -S "
      "gcc) or set the environment variable CUDASCAN_CXX to the path of one. gswo-cc and a linker "
      "would also do, but gswo-cc was not found either: build gst-cudascan where Clang's "
      "libraries are installed (Debian: llvm-dev libclang-dev libclang-cpp-dev), or set "
      "CUDASCAN_GSWO_CC to "
      "the path of gswo-cc");
}

// The data of Linux on which -march=native depends.
std::string describe_cpu() {
  std::ifstream info("/proc/cpuinfo");
  std::string description, line;
  while (std::getline(info, line) && !line.empty())
    for (const char *wanted : {"vendor_id", "cpu family", "model", "stepping", "flags", "Features",
                               "CPU implementer", "CPU part", "CPU variant", "isa", "cpu\t"})
      if (line.starts_with(wanted)) {
        description += line + '\n';
        break;
      }
  return description;
}

std::string key_of(const Unit &unit, const Compiler &compiler) {
  Digest digest = digest_of(unit);
  digest.add("cpu").add(compiler.program.version);
  if (compiler.is_gswo_cc) digest.add(version_of_gswo_cc(compiler.program));
  for (const std::string &flag : compiler.flags) digest.add(flag);
  return digest.add(describe_cpu()).hex();
}

// The killed program may be one that the compiler has started; then the compiler reports it.
bool ran_out_of_time(const ProcessResult &result) {
  return result.end == End::timed_out || (result.end == End::killed && result.code == SIGXCPU) ||
         result.messages.find("CPU time limit exceeded") != std::string::npos;
}

bool crashed(const ProcessResult &result) {
  if (result.end == End::killed) return true;
  for (const char *sign : {"internal compiler error", "PLEASE submit a bug report",
                           "signal terminated", "due to signal", "out of memory",
                           "memory exhausted", "allocate memory", "failed to map segment"})
    if (result.messages.find(sign) != std::string::npos) return true;
  return false;
}

[[noreturn]] void report(const ProcessResult &result, const Unit &unit, const ProgramFile &compiler,
                         const CompilerMessages &messages) {
  const std::string said = messages.text.empty() ? "" : "\n" + messages.text;
  if (messages.blames_code && result.end == End::exited) throw BadSetting(messages.text);
  if (ran_out_of_time(result))
    throw Error("the C++ compiler " + compiler.path + " was stopped: it took too long for " +
                unit.main.name +
                "; make the code smaller (shorter loops, a smaller window), or set "
                "the environment variable CUDASCAN_CXX to another compiler");
  if (crashed(result))
    throw Error("the C++ compiler " + compiler.path + " crashed or ran out of memory at " +
                unit.main.name +
                "; make the code simpler, or set the environment variable "
                "CUDASCAN_CXX to another compiler" +
                said);
  throw Error("the C++ compiler " + compiler.path + " does not work (exit status " +
              std::to_string(result.code) +
              "); repair it, or set the environment variable "
              "CUDASCAN_CXX to another compiler" +
              said);
}

std::string compile(const Unit &unit, const Compiler &compiler, const ProcessLimits &limits,
                    const std::stop_token &stop) {
  const PrivateFolder folder;
  // Includes with quotes first search the folder of the file; it contains only this file.
  folder.write("main/main.cpp", named_text(unit.main));
  std::error_code ignored;  // writing files in it then fails
  std::filesystem::create_directory(folder.path() + "/headers", ignored);  // for __has_include
  for (const SourceText &header : unit.headers) folder.write("headers/" + header.name, header.text);
  std::vector<std::string> program = {compiler.program.path};
  program.insert(program.end(), compiler.flags.begin(), compiler.flags.end());
  program.insert(program.end(), {"-I", folder.path() + "/headers"});
  if (!compiler.is_gswo_cc)
    program.insert(program.end(), {"-MD", "-MF", folder.path() + "/included"});
  for (const std::string &define : unit.defines) program.push_back("-D" + define);
  program.insert(program.end(),
                 {"-o", folder.path() + "/code.so", folder.path() + "/main/main.cpp"});
  ProcessResult result = run_program(program, folder.path(), limits, stop);
  check_not_stopped(stop);
  std::string code = folder.read("code.so");
  if (result.end == End::exited && result.code == 0 && !code.empty()) {
    if (!compiler.is_gswo_cc) check_included(unit, folder.read("included"), folder.path());
    return code;
  }
  report(result, unit, compiler.program,
         shorten(result.messages, {folder.path() + "/headers/", folder.path() + "/"}));
}

}  // namespace

std::string compile_for_cpu(const Unit &unit, const CodeOptions &options,
                            const ProcessLimits &limits) {
  check_unit(unit);
  const Compiler compiler = find_compiler();
  if (options.cache_dir.empty()) return compile(unit, compiler, limits, options.stop);
  return CodeCache(options.cache_dir).find_or_make(key_of(unit, compiler), [&] {
    return compile(unit, compiler, limits, options.stop);
  });
}

std::string compile_for_cpu(const Unit &unit, const CodeOptions &options) {
  return compile_for_cpu(unit, options, ProcessLimits{});
}

}  // namespace cudascan::gswo
