// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code that is compiled once for all executors of the process, in threads of its own.
#pragma once
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "kernels/gswo/code.h"
#include "kernels/gswo/filter_unit.h"
#include "kernels/gswo/manifest.h"

namespace cudascan::gswo {

/// What comes of a program.
struct Built {
  std::string code;                       ///< for the GPU or the CPU
  SwoFilterCode told;                     ///< to people
  FilterLaunch launch;                    ///< of formulas and functions
  std::optional<ManifestFunction> chain;  ///< how a translated filter is run
};

struct Program {
  std::string key;              ///< everything that `make` depends on
  std::function<Built()> make;  ///< throws as compile_for_gpu(), compile_for_cpu() and translate()
  unsigned planes = 0;          ///< of WindowPlane, to be given to it with each frame
};

/// What make() returns or throws.
using Compiled = std::shared_future<std::shared_ptr<const Built>>;

/// Begins to make a program, unless that was begun before. The latest programs are remembered.
Compiled compile(const Program &);

/// Whether built() would return or throw at once.
bool is_ready(const Compiled &);

/// The program; waits for it. Of a compiler's messages only those about the user's text are thrown, if
/// there are any: what is wrong there is wrong in each header's function that calls it, too.
std::shared_ptr<const Built> built(const Compiled &);

}  // namespace cudascan::gswo
