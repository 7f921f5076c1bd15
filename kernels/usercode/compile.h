// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by compiling for the GPU and for the CPU.
#pragma once
#include <chrono>

#include "kernels/usercode/child_process.h"
#include "kernels/usercode/code.h"
#include "kernels/usercode/digest.h"

namespace cudascan::gswo {

/// Refuses user code if it is turned off by the environment or in this build.
/// @throws BadSetting
void check_user_code();

/// Refuses user code if it is turned off, and units that code.h does not allow.
/// @throws BadSetting
void check_unit(const Unit &);

/// The main text after a #line with its name, so that messages use this name.
std::string named_text(const SourceText &);

/// @throws Error if it is stopped
void check_not_stopped(const std::stop_token &);

/// A digest of the whole unit and the version of this code.
Digest digest_of(const Unit &);

/// compile_for_cpu() with other limits.
CUDASCAN_API std::string compile_for_cpu(const Unit &, const CodeOptions &, const ProcessLimits &);

/// compile_for_gpu() with another limit on its time.
CUDASCAN_API std::string compile_for_gpu(const Unit &, int architecture, const CodeOptions &,
                                         std::chrono::milliseconds longest);

}  // namespace cudascan::gswo
