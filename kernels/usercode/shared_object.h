// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code for the CPU, loaded from memory.
#pragma once
#include <string>

#include "common/api.h"

namespace cudascan::gswo {

/// A shared object, loaded as long as this lives. Each has global variables of its own, even when
/// two are made from the same bytes.
class CUDASCAN_API SharedObject {
 public:
  /// @param bytes  what compile_for_cpu() returned
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
