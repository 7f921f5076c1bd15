// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code for the CPU, loaded from memory.
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// A shared object that is loaded while this lives. Each has its own global variables, even if two
/// are made from the same bytes.
class CUDASCAN_API SharedObject {
 public:
  /// @param bytes  the result of compile_for_cpu()
  /// @throws Error if the bytes cannot be loaded
  explicit SharedObject(const std::string &bytes);
  ~SharedObject();
  SharedObject(const SharedObject &) = delete;
  SharedObject &operator=(const SharedObject &) = delete;

  /// Address of an exported function or variable; nullptr if there is none of that name.
  void *symbol(const char *name) const;

 private:
  void *handle_ = nullptr;
};

}  // namespace cudascan::gswo
