// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code that is compiled once for all executors of the process, in threads of its own.
#pragma once
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "kernels/usercode/code.h"
#include "kernels/usercode/filter_unit.h"
#include "kernels/usercode/manifest.h"

namespace cudascan::gswo {

/// What comes of a program.
struct Built {
  std::string code;                       ///< for the GPU or the CPU
  UserFilterCode told;                    ///< to people
  FilterLaunch launch;                    ///< of formulas and functions
  std::optional<ManifestFunction> chain;  ///< how a translated filter is run
};

struct Program {
  std::string key;  ///< everything that `make` depends on
  /// Throws as compile_for_gpu(), compile_for_cpu() and translate(), and gives up as these.
  std::function<Built(const std::stop_token &)> make;
  unsigned planes = 0;  ///< of WindowPlane, to be given to it with each frame
};

/// A program that is made, or being made. When nobody has one any more, making it is given up.
struct Compiled {
  std::shared_future<std::shared_ptr<const Built>> code;  ///< what make() returns or throws
  std::shared_ptr<void> interest;
};

/// Begins to make a program, unless that was begun before. The latest programs are remembered. At
/// the end of the process all that is being made is given up.
Compiled compile(const Program &);

/// Whether built() would return or throw at once.
bool is_ready(const Compiled &);

/// The program; waits for it. Of a compiler's messages only those about the user's text are thrown,
/// if there are any: what is wrong there is wrong in each header's function that calls it, too.
std::shared_ptr<const Built> built(const Compiled &);

}  // namespace cudascan::gswo
