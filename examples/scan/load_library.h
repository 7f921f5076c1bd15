// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <dlfcn.h>

#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace cudascan::scan {

/// Loads a library of NVIDIA's at run time. It stays loaded until the process ends, as CUDA does.
/// @param what      its name in messages
/// @param variable  the environment variable that may name the file
/// @param names     otherwise: on the loader's path and where CUDA is installed
/// @param take      finds what is needed of it; @return why it cannot be used, or ""
/// @param note      prints what is found out on the way
/// @return the file
/// @throws Error when there is none that can be used
std::string load_library(const char *what, const char *variable,
                         const std::vector<const char *> &names,
                         const std::function<std::string(void *library)> &take,
                         const std::function<void(const std::string &)> &note);

/// "nvjpegCreateEx: internal error (8)" and so on.
/// @param names  of the statuses from 0 on
std::string call_failed(const char *what, std::span<const char *const> names, int status);

/// Finds functions of a library.
class FunctionsOf {
 public:
  explicit FunctionsOf(void *library) : library_(library) {}
  /// Sets a pointer to a function, nullptr if there is none.
  template <typename Function>
  FunctionsOf &find(Function *&function, const char *name) {
    function = reinterpret_cast<Function *>(dlsym(library_, name));
    if (!function && !missing_) missing_ = name;
    return *this;
  }
  /// "has no function NAME" for the first one that is missing, or ""
  std::string problem() const { return missing_ ? std::string("has no function ") + missing_ : ""; }

 private:
  void *library_;
  const char *missing_ = nullptr;
};

}  // namespace cudascan::scan
