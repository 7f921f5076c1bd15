// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Code that is compiled once for all executors of the process, in separate threads.
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

/// A compiled program.
struct Built {
  std::string code;                       ///< for the GPU or the CPU
  UserFilterCode told;                    ///< for users
  FilterLaunch launch;                    ///< of formulas and functions
  std::optional<ManifestFunction> chain;  ///< how to run a translated filter
};

struct Program {
  std::string key;  ///< everything that `make` depends on
  /// Throws and can be cancelled like compile_for_gpu(), compile_for_cpu() and translate().
  std::function<Built(const std::stop_token &)> make;
  WindowPlanes planes = {};  ///< to provide with each frame
};

/// A program that is made or being made. When nobody holds it any longer, making it is cancelled.
struct Compiled {
  std::shared_future<std::shared_ptr<const Built>>
      code;  ///< the result of make(), or its exception
  std::shared_ptr<void> interest;
};

/// Starts to make a program unless that was started before. The latest programs are remembered. At
/// the end of the process all unfinished programs are cancelled.
Compiled compile(const Program &);

/// Whether built() would return or throw at once.
bool is_ready(const Compiled &);

/// The program; waits for it. If a compiler's messages include some about the user's text, only
/// these are thrown, because errors there cause more errors in the headers' functions that call it.
std::shared_ptr<const Built> built(const Compiled &);

}  // namespace cudascan::gswo
