// SPDX-License-Identifier: LGPL-2.1-or-later
// gswo-cc translates sequential C or C++ with the pragmas of the GSWO model to CUDA and C++.
#include <clang/Basic/Version.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <limits>
#include <sstream>

#include "gswo/emit_file.h"
#include "gswo/shared_object.h"
#include "gswo/translate.h"

namespace cudascan::gswo {

namespace {

constexpr char kHelp[] =
    R"(usage: gswo-cc [options] FILE

Translates sequential C or C++ with the GSWO pragmas (#pragma parallel, for, single, copy...) to
CUDA.

  --emit kernel      one file that is both CUDA kernel and C++, with a list of its arguments
                     (default)
  --emit standalone  a CUDA program with the host code of FILE, for nvcc
  --emit plain       FILE without its pragmas, for any compiler
  --emit so          a shared object for this machine; FILE is C++20 without pragmas and includes
                     only headers from -I folders
  -o FILE            output file (default: standard output)
  --set NAME=VALUE   makes the parameter NAME of the filter a constant. With --emit kernel the
                     images have the size of the frame, so parameters that bound the loops stay
                     variable
  --system-headers   allow only system headers to be included
  --strict           allow only mathematical headers and functions, and FILE's own functions; no
                     assembler, pointers or endless loops; limited sizes of loops and variables
  --no-tiles         use no tiles in shared memory
  --tile-width N, --tile-height N     pixels for a block of threads, overrides tile(x, y)
  --chunk-width N, --chunk-height N   pixels for a thread, overrides chunksize(x, y)
  -I DIR, -D NAME    as for compilers
  --help, --version

Exit status: 0 success; 1 failure, with messages file:line:column on standard error.
)";

[[noreturn]] void fail(const std::string &message) {
  std::cerr << "gswo-cc: " << message << "\n";
  std::exit(1);
}

bool is_name(const std::string &s) {
  if (s.empty() || std::isdigit(static_cast<unsigned char>(s[0]))) return false;
  for (const char c : s)
    if (c != '_' && !std::isalnum(static_cast<unsigned char>(c))) return false;
  return true;
}

void set_constant(Options &options, const std::string &setting) {
  const auto equals = setting.find('=');
  const std::string name = setting.substr(0, equals);
  std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
  if (value.size() > 1 && value[0] == '+' && value[1] != '-') value.erase(0, 1);
  char *end = nullptr;
  std::strtod(value.c_str(), &end);
  const bool digits = value.find_first_not_of("+-.0123456789eE") == std::string::npos;
  if (!is_name(name) || value.empty() || *end || !digits)
    fail("--set '" + setting + "' is not NAME=NUMBER, such as --set win=5");
  Constant constant{value, {}};
  if (value.find_first_of(".eE") == std::string::npos) {
    errno = 0;
    constant.whole = std::strtol(value.c_str(), nullptr, 10);
    constant.text = std::to_string(*constant.whole);
    if (errno)
      fail("--set '" + setting + "': whole numbers must be from " +
           std::to_string(std::numeric_limits<long>::min()) + " to " +
           std::to_string(std::numeric_limits<long>::max()));
  }
  options.constants[name] = constant;
}

int positive(const std::string &option, const std::string &text) {
  const bool digits = !text.empty() && text.size() <= 4 &&
                      text.find_first_not_of("0123456789") == std::string::npos;
  const int value = digits ? std::atoi(text.c_str()) : 0;
  if (value < 1 || value > 1024) fail(option + " '" + text + "' is not a number from 1 to 1024");
  return value;
}

Options read_options(int argc, char **argv) {
  Options options;
  for (int k = 1; k < argc; ++k) {
    const std::string argument = argv[k];
    const auto next = [&] {
      if (k + 1 >= argc) fail(argument + " needs a value");
      return std::string(argv[++k]);
    };
    if (argument == "--help") {
      std::cout << kHelp;
      std::exit(0);
    } else if (argument == "--version") {
      std::cout << "gswo-cc " GSWO_VERSION " (manifest " << kManifestVersion << ", "
                << clang::getClangFullVersion() << ")\n";
      std::exit(0);
    } else if (argument == "-o") {
      options.output = next();
    } else if (argument == "--set") {
      set_constant(options, next());
    } else if (argument == "--system-headers") {
      options.system_headers = true;
    } else if (argument == "--strict") {
      options.strict = options.system_headers = true;
    } else if (argument == "--no-tiles") {
      options.tiles = false;
    } else if (argument == "--tile-width") {
      options.tile_width = positive(argument, next());
    } else if (argument == "--tile-height") {
      options.tile_height = positive(argument, next());
    } else if (argument == "--chunk-width") {
      options.chunk_width = positive(argument, next());
    } else if (argument == "--chunk-height") {
      options.chunk_height = positive(argument, next());
    } else if (argument == "--emit") {
      const std::string what = next();
      if (what != "kernel" && what != "standalone" && what != "plain" && what != "so")
        fail("--emit '" + what + "': must be kernel, standalone, plain or so");
      options.emit = what == "kernel"  ? Emit::kernel
                     : what == "plain" ? Emit::plain
                     : what == "so"    ? Emit::shared_object
                                       : Emit::standalone;
    } else if (argument == "-I" || argument == "-D") {
      options.compiler_arguments.push_back(argument + next());
    } else if (argument.size() > 2 && (argument[1] == 'I' || argument[1] == 'D') &&
               argument[0] == '-') {
      options.compiler_arguments.push_back(argument);
    } else if (argument.size() > 1 && argument[0] == '-') {
      fail("unknown option '" + argument + "'; see gswo-cc --help");
    } else if (!options.input.empty()) {
      fail("give one file at a time, not '" + options.input + "' and '" + argument + "'");
    } else {
      options.input = argument;
    }
  }
  if (options.input.empty()) fail("no file given; see gswo-cc --help");
  if (options.emit == Emit::shared_object) {
    if (options.output.empty()) fail("--emit so needs the name of a file, -o FILE");
    if (options.strict || !options.constants.empty())
      fail("--emit so compiles without translating, so --strict and --set do not apply");
  }
  return options;
}

constexpr std::size_t kLargestFile = 1 << 20;

std::string read_file(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad()) fail("can't read '" + name + "': " + std::strerror(errno));
  if (text.size() > kLargestFile) fail("'" + name + "' is larger than 1 MiB");
  return text;
}

void write(const Options &options, const std::string &text) {
  if (options.output.empty()) {
    std::cout << text << std::flush;
    if (!std::cout) fail("can't write to standard output");
    return;
  }
  std::ofstream file(options.output, std::ios::binary);
  file << text << std::flush;
  if (!file) fail("can't write '" + options.output + "': " + std::strerror(errno));
}

/// @return the exit status
int translate_file(const Options &options) {
  Source source(options.input, read_file(options.input));
  const auto text = translate(source, options);
  if (!text) return 1;
  write(options, *text);
  return 0;
}

void limit(int what, rlim_t most) {
  rlimit now{};
  getrlimit(what, &now);
  if (now.rlim_cur > most) now.rlim_cur = most;
  setrlimit(what, &now);
}

/// The message for a signal that ended the process.
std::string end_by(int signal, const Options &options) {
  const bool time = signal == SIGXCPU || signal == SIGKILL;
  // The library looks for these words.
  if (options.emit == Emit::shared_object)
    return "gswo-cc: error: compiling " + options.input + ": " +
           (time ? "CPU time limit exceeded"
                 : std::string("out of memory, or failed (") + strsignal(signal) + ")");
  return options.input + ":1:1: error: the translator " +
         (time ? "needed more than 30 s"
               : std::string("ran out of memory or failed (") + strsignal(signal) + ")") +
         "; make the file simpler: shorter expressions, fewer nested templates and macros";
}

/// Runs the translation in a separate process, so that a crash still gives a message.
int guarded(const Options &options) {
  limit(RLIMIT_CORE, 0);
  const pid_t parent = getpid(), child = fork();
  if (child < 0) fail(std::string("can't start a process: ") + std::strerror(errno));
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);  // the parent had already ended
    limit(RLIMIT_CPU, 30);
#ifndef GSWO_SANITIZED
    // AddressSanitizer reserves terabytes of addresses.
    limit(RLIMIT_AS, rlim_t{2} << 30);
#endif
    const int status = options.emit == Emit::shared_object ? !emit_shared_object(options)
                                                           : translate_file(options);
    std::cout.flush();
    std::fflush(nullptr);
    _exit(status);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status) ? 1 : 0;
  std::cerr << end_by(WTERMSIG(status), options) << "\n";
  return 1;
}

}  // namespace

}  // namespace cudascan::gswo

int main(int argc, char **argv) {
  return cudascan::gswo::guarded(cudascan::gswo::read_options(argc, argv));
}
