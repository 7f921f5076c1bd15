// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gswo/shared_object.h"

#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Frontend/CompilerInstance.h>
#include <link.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/Program.h>
#include <llvm/Support/TargetSelect.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iostream>
#include <string_view>

namespace cudascan::gswo {

namespace {

// The same flags as in kernels/usercode/compile_cpu.cpp. Destructors of global variables would need
// an object file of a compiler and are not useful. The line tables are for messages of the linker.
constexpr const char *kFlags[] = {"-c",
                                  "-xc++",
                                  "-std=c++20",
                                  "-O2",
                                  "-march=native",
                                  "-fno-math-errno",
                                  "-fno-trapping-math",
                                  "-fno-exceptions",
                                  "-ffp-contract=off",
                                  "-fPIC",
                                  "-nostdinc",
                                  "-fvisibility=hidden",
                                  "-fno-c++-static-destructors",
                                  "-w",
                                  "-gline-tables-only",
                                  "-gdwarf-4",
                                  "-ferror-limit=20"};

constexpr const char *kLinkerFlags[] = {"-shared", "-Bsymbolic", "-z", "defs", "-s", "--as-needed"};

void say(const std::string &message) {
  std::cerr << "gswo-cc: error: " << message << "\n";
}

/// An object file that no other program sees and that vanishes with this process.
class ObjectFile {
 public:
  // The linker inherits it.
  ObjectFile() : file_(memfd_create("gswo-object", 0)) {}
  ~ObjectFile() { close(file_); }
  ObjectFile(const ObjectFile &) = delete;
  ObjectFile &operator=(const ObjectFile &) = delete;

  int descriptor() const { return file_; }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

bool compile(const Options &options, const ObjectFile &object) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  llvm::InitializeNativeTargetAsmParser();  // for asm statements

  std::vector<const char *> arguments{"gswo-cc"};
  arguments.insert(arguments.end(), std::begin(kFlags), std::end(kFlags));
  for (const std::string &argument : options.compiler_arguments)
    arguments.push_back(argument.c_str());
  arguments.push_back(options.input.c_str());

  // The driver translates the options for this processor.
  clang::CompilerInstance compiler;
  compiler.createDiagnostics();
  clang::driver::Driver driver("gswo-cc", LLVM_HOST_TRIPLE, compiler.getDiagnostics());
  const std::unique_ptr<clang::driver::Compilation> plan(driver.BuildCompilation(arguments));
  if (!plan || compiler.getDiagnostics().hasErrorOccurred() || plan->getJobs().size() != 1)
    return false;
  if (!clang::CompilerInvocation::CreateFromArgs(compiler.getInvocation(),
                                                 plan->getJobs().begin()->getArguments(),
                                                 compiler.getDiagnostics()))
    return false;
  compiler.createDiagnostics();  // now with their options

  compiler.setOutputStream(
      std::make_unique<llvm::raw_fd_ostream>(object.descriptor(), /*shouldClose=*/false));
  clang::EmitObjAction action;
  return compiler.ExecuteAction(action);
}

/// `ld` or `ld.lld` in an absolute folder of PATH; empty if there is none.
std::string find_linker() {
  const char *path = std::getenv("PATH");
  llvm::SmallVector<llvm::StringRef, 16> all, folders;
  llvm::StringRef(path ? path : "/usr/local/bin:/usr/bin:/bin").split(all, ':');
  for (const llvm::StringRef folder : all)
    if (!folder.empty() && folder[0] == '/') folders.push_back(folder);
  if (folders.empty()) return "";  // an empty list would mean all of PATH
  for (const char *name : {"ld", "ld.lld"})
    if (const auto found = llvm::sys::findProgramByName(name, folders)) return *found;
  return "";
}

/// The libraries that a compiler would link, by their paths in this process. The unversioned names
/// that linkers look for are installed only with compilers.
std::vector<std::string> system_libraries() {
  std::vector<std::string> libraries;
  const auto add = [](dl_phdr_info *info, std::size_t, void *to) {
    const std::string_view path(info->dlpi_name);
    const std::string_view name = path.substr(path.rfind('/') + 1);
    for (const std::string_view wanted :
         {"libc.", "libm.", "libgcc_s.", "libstdc++.", "libc++.", "libc++abi.", "ld-"})
      if (name.substr(0, wanted.size()) == wanted)
        static_cast<std::vector<std::string> *>(to)->emplace_back(path);
    return 0;
  };
  dl_iterate_phdr(add, &libraries);
  return libraries;
}

bool link(const ObjectFile &object, const std::string &output) {
  const std::string linker = find_linker();
  if (linker.empty()) {
    say("code for the CPU needs a linker, and neither ld nor ld.lld is in PATH; install one "
        "(Debian, "
        "Ubuntu: apt install binutils; Fedora: dnf install binutils; Arch: pacman -S binutils)");
    return false;
  }
  const std::string object_path = object.path();
  const std::vector<std::string> libraries = system_libraries();
  std::vector<llvm::StringRef> arguments{linker};
  arguments.insert(arguments.end(), std::begin(kLinkerFlags), std::end(kLinkerFlags));
  // One line with place and error, as ld prints it.
  if (linker.ends_with("lld")) arguments.push_back("--vs-diagnostics");
  arguments.insert(arguments.end(), {"-o", output, object_path});
  arguments.insert(arguments.end(), libraries.begin(), libraries.end());
  std::string reason;
  const int status = llvm::sys::ExecuteAndWait(linker, arguments, {}, {}, 0, 0, &reason);
  if (status == 0) return true;
  say("the linker " + linker + " failed" + (reason.empty() ? "" : ": " + reason));
  return false;
}

}  // namespace

bool emit_shared_object(const Options &options) {
  const ObjectFile object;
  if (object.descriptor() < 0) {
    say(std::string("cannot make a file in memory: ") + std::strerror(errno));
    return false;
  }
  return compile(options, object) && link(object, options.output);
}

}  // namespace cudascan::gswo
