// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code that is compiled once for all executors of the process, in threads of its own.
#pragma once
#include <future>
#include <memory>
#include <string>

#include "kernels/gswo/code.h"

namespace cudascan::gswo {

/// A unit and what it is compiled for.
struct Program {
  Unit unit;
  int architecture = 0;  ///< of the GPU, as compile_for_gpu() takes it; 0 = the CPU
  CodeOptions options;
};

/// What compile_for_gpu() or compile_for_cpu() return or throw.
using Compiled = std::shared_future<std::shared_ptr<const std::string>>;

/// Begins to compile a program, unless that was begun before. The latest programs are remembered.
Compiled compile(const Program &);

/// Whether code() would return or throw at once.
bool is_ready(const Compiled &);

/// The code; waits for it. Of a compiler's messages only those about the user's text are thrown, if there
/// are any: what is wrong there is wrong in each header's function that calls it, too.
const std::string &code(const Compiled &);

}  // namespace cudascan::gswo
