// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Stand-alone programs of gswo-cc with an emulated device.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "tool.h"

namespace cudascan::gswo::test {

/// What a program did.
struct Costs {
  long long mallocs, up, down, up_bytes, down_bytes, launches;
};

/// A source in two forms: as it is, and translated.
class Program {
 public:
  explicit Program(const std::string &name);

  const Library &form(bool cuda) const { return cuda ? *cuda_ : *plain_; }

  Costs costs_of(const std::function<void()> &code) const;

 private:
  Folder folder_;
  std::unique_ptr<Library> plain_, cuda_;
};

}  // namespace cudascan::gswo::test
