// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/gswo/program_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "common/error.h"

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
  if (name.find('/') != std::string::npos) return program_at(std::filesystem::absolute(name));
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

std::optional<ProgramFile> find_gswo_cc() {
  if (const char *chosen = std::getenv("CUDASCAN_GSWO_CC"); chosen && *chosen) {
    if (const auto found = find_program(chosen)) return found;
    throw Error(std::string("gswo-cc ") + chosen +
                ", which the environment variable CUDASCAN_GSWO_CC names, is not a program that "
                "can be run; set it to the path of gswo-cc");
  }
  const auto found = find_program("gswo-cc");
  return found ? found : find_program(GSWO_CC_INSTALLED);
}

}  // namespace cudascan::gswo
