// SPDX-License-Identifier: LGPL-2.1-or-later
#include "load_library.h"

#include <cstdlib>

#include "common/error.h"

namespace cudascan::scan {
namespace {

/// Where the library may be.
std::vector<std::string> places(const char *variable, const std::vector<const char *> &names) {
  if (const char *named = std::getenv(variable)) return {named};
  std::vector<std::string> folders{""};
  for (const char *home : {"CUDA_HOME", "CUDA_PATH"})
    if (const char *folder = std::getenv(home); folder && *folder)
      folders.push_back(std::string(folder) + "/lib64/");
  for (const char *folder : {"/usr/local/cuda/lib64/", "/opt/cuda/lib64/"})
    folders.emplace_back(folder);
  std::vector<std::string> all;
  for (const char *name : names)
    for (const std::string &folder : folders) all.push_back(folder + name);
  return all;
}

}  // namespace

std::string load_library(const char *what, const char *variable,
                         const std::vector<const char *> &names,
                         const std::function<std::string(void *library)> &take,
                         const std::function<void(const std::string &)> &note) {
  std::string problem;
  for (const std::string &place : places(variable, names)) {
    if (void *const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      problem = take(library);
      if (problem.empty()) return place;
      problem = place + ' ' + problem;
    } else {
      problem = dlerror();
    }
    note(std::string(what) + ": " + problem);
  }
  throw Error(problem);
}

std::string call_failed(const char *what, std::span<const char *const> names, int status) {
  const bool known = status >= 0 && static_cast<std::size_t>(status) < names.size();
  return std::string(what) + ": " + (known ? names[status] : "unknown status") + " (" +
         std::to_string(status) + ")";
}

}  // namespace cudascan::scan
