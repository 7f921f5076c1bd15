// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/program_file.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string_view>

#include "common/error.h"
#include "kernels/usercode/child_process.h"
#include "kernels/usercode/private_folder.h"

namespace cudascan::gswo {
namespace {

std::optional<ProgramFile> program_at(const std::string &path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) ||
      access(path.c_str(), X_OK) != 0)
    return std::nullopt;
  std::string version = path;
  for (const long long number :
       {static_cast<long long>(status.st_size), static_cast<long long>(status.st_mtim.tv_sec),
        static_cast<long long>(status.st_mtim.tv_nsec)})
    version += ' ' + std::to_string(number);
  return ProgramFile{path, version};
}

}  // namespace

std::optional<ProgramFile> find_program(const std::string &name) {
  if (name.find('/') != std::string::npos) {
    std::error_code none;  // for instance if the current folder is gone
    const std::filesystem::path path = std::filesystem::absolute(name, none);
    return none ? std::nullopt : program_at(path);
  }
  const char *path = std::getenv("PATH");
  for (std::string_view folders = path ? path : "/usr/local/bin:/usr/bin:/bin"; !folders.empty();) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(folders.substr(0, end));
    folders.remove_prefix(std::min(end + 1, folders.size()));
    if (folder.empty() || folder[0] != '/') continue;
    if (const auto program = program_at(folder + '/' + name)) return program;
  }
  return std::nullopt;
}

std::optional<ProgramFile> gswo_cc_of(const std::string &library) {
  std::error_code none;
  const std::filesystem::path file = std::filesystem::canonical(library, none);
  struct stat of_library {};
  if (none || stat(file.c_str(), &of_library) != 0) return std::nullopt;
  // From kernels/ of a build folder; from lib/ of an installation; from lib/x86_64-linux-gnu/.
  for (const char *path : {"../gswo/gswo-cc", "../bin/gswo-cc", "../../bin/gswo-cc"}) {
    const auto found = program_at((file.parent_path() / path).lexically_normal());
    struct stat of_program {};
    if (found && stat(found->path.c_str(), &of_program) == 0 &&
        (of_program.st_uid == of_library.st_uid || of_program.st_uid == 0))
      return found;
  }
  return std::nullopt;
}

namespace {

/// gswo-cc of the same build or installation as this code.
std::optional<ProgramFile> own_gswo_cc() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&gswo_cc_of), &info) || !info.dli_fname) return std::nullopt;
  return gswo_cc_of(info.dli_fname);
}

}  // namespace

std::optional<ProgramFile> find_gswo_cc() {
  if (const char *chosen = std::getenv("CUDASCAN_GSWO_CC"); chosen && *chosen) {
    if (const auto found = find_program(chosen)) return found;
    throw Error(std::string("gswo-cc ") + chosen +
                ", which the environment variable CUDASCAN_GSWO_CC names, is not a program that "
                "can be run; set it to the path of gswo-cc");
  }
  if (const auto own = own_gswo_cc()) return own;
  const auto found = find_program("gswo-cc");
  return found ? found : find_program(GSWO_CC_INSTALLED);
}

namespace {

std::string ask_version(const ProgramFile &gswo_cc) {
  const PrivateFolder folder;
  const ProcessResult result = run_program({gswo_cc.path, "--version"}, folder.path(), {});
  if (result.end != ProcessResult::End::exited || result.code != 0) return "";
  return result.messages.substr(0, result.messages.find('\n'));
}

}  // namespace

std::string version_of_gswo_cc(const ProgramFile &gswo_cc) {
  // Never destroyed: programs may still be in production when the process ends.
  static std::mutex &mutex = *new std::mutex;
  static auto &known = *new std::map<std::string, std::string>;
  const std::lock_guard lock(mutex);
  const auto found = known.find(gswo_cc.version);
  if (found != known.end()) return found->second;
  const std::string version = ask_version(gswo_cc);
  if (!version.empty()) known[gswo_cc.version] = version;
  return version;
}

}  // namespace cudascan::gswo
