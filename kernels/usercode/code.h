// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes machine code of users' filters at run time: by NVRTC for the GPU, by the C++ compiler of
/// the system for the CPU or, where none is installed, by gswo-cc and a linker.
///
/// **User code is trusted code.** What comes out has all the rights of the process that loads it,
/// so a filter is to be trusted as far as a plugin is. What is stopped here is stopped so that a
/// filter means the same wherever it is compiled, and that mistakes and hanging compilers do no
/// harm:
/// - a file can only include the headers of its unit: every #include, #include_next, #import,
///   #embed, __has_include and __has_embed is looked at before a compiler sees the text, those that
///   are made by macros are refused, and so are pragmas and assembler directives that open files;
///   what the compiler for the CPU says that it has included is looked at again, and nothing of
///   another file comes into the cache;
/// - the compiler for the CPU runs in a process of its own with limits on time, memory and output,
///   reads and writes in a private temporary folder and is started without a shell; it is killed
///   and the folder removed when this process ends, however it does;
/// - files of the cache are taken only from a folder that nobody else can write to.
/// Not stopped are assembler directives that macros put together, and what code does when it runs.
/// NVRTC runs in this process, without limits on memory, and nothing survives its crash. After 30 s
/// it is waited for no longer and, if its version can be, told to give up, but it may go on in a
/// thread of its own for as long as it wants.
///
/// Environment: CUDASCAN_NO_USER_CODE, if set and neither empty nor 0, turns user code off.
/// CUDASCAN_CXX is the compiler for the CPU, a path or a name to be found in PATH, without
/// arguments; unset, it is the first of c++, g++ and clang++, else gswo-cc. CUDASCAN_GSWO_CC names
/// gswo-cc; unset, it is looked for in PATH and where it was installed with this library. CUDA_HOME
/// is where the CUDA Toolkit is, if NVRTC is not found without.
#pragma once
#include <stop_token>
#include <string>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

struct SourceText {
  std::string name;  ///< as messages and #include have it, such as "blur.cpp" or "gswo/window.h"
  std::string text;
};

/// What is compiled: C++20 for the CPU, the same with CUDA's keywords for the GPU.
struct Unit {
  SourceText main;  ///< may use #line; messages then show what that says
  /// #include finds these by name, and nothing else: no headers of the system, no files beside.
  /// Names are relative, without "." and ".." as parts.
  std::vector<SourceText> headers;
  std::vector<std::string> defines;  ///< NAME=VALUE or NAME
};

struct CodeOptions {
  /// Folder of the disk cache, "" = none. It is made if it is not there; it is left alone, without
  /// a word, if it belongs to somebody else or others may write to it. Processes can share it.
  /// Files that were not used for longest are removed when there are more than 256 MiB.
  std::string cache_dir;
  /// Asks whoever compiles to give up: it throws an Error within some hundredths of a second, and
  /// what it has started is gone. NVRTC may go on for a while in a thread of its own.
  std::stop_token stop = {};
};

/// $XDG_CACHE_HOME/gst-cudascan or ~/.cache/gst-cudascan; "" where neither is known.
CUDASCAN_API std::string default_cache_dir();

/// Compiles without contraction (a * b + c rounds twice, as on the CPU) and without fast math.
/// Functions without an execution space are for the device.
/// @param architecture  compute capability of the GPU times ten: 90 for sm_90
/// @return a cubin; PTX of the highest architecture below where NVRTC does not know the GPU's
/// @throws BadSetting with the compiler's messages, one a line, each as "file:line: error: text",
///         if the code is wrong, and if user code is turned off
/// @throws Error with the remedy if there is no NVRTC, and if it failed or took more than 30 s
CUDASCAN_API std::string compile_for_gpu(const Unit &, int architecture, const CodeOptions &);

/// Compiles for the CPU that this runs on. NaN, infinities, rounding and the sign of zeros are as
/// in the text; errno and the flags of the floating-point unit are not kept, and exceptions cannot
/// be thrown.
/// @return a shared object
/// @throws BadSetting with the compiler's messages, one a line, each as "file:line:column: error:
///         text", if the code is wrong, and if user code is turned off
/// @throws Error with the remedy if there is no compiler, and if it crashed or took more than 30 s
///         of CPU time or 60 s in all
CUDASCAN_API std::string compile_for_cpu(const Unit &, const CodeOptions &);

}  // namespace cudascan::gswo
