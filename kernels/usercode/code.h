// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Compiles users' filters at run time: with NVRTC for the GPU; with the system's C++ compiler for
/// the CPU or, if none is installed, with gswo-cc and a linker.
///
/// **User code is trusted code.** The compiled code has all the rights of the process that loads
/// it, so a filter must be trusted as much as a plugin. The checks here exist so that a filter
/// means the same wherever it is compiled, and so that mistakes and hanging compilers do no harm:
/// - a file can only include the headers of its unit: every #include, #include_next, #import,
///   #embed, __has_include and __has_embed is checked before a compiler sees the text. Those made
///   by macros are refused, and so are pragmas and assembler directives that open files. The list
///   of files that the CPU compiler has included is checked afterwards, and nothing from another
///   file gets into the cache;
/// - the compiler for the CPU runs in its own process with limits on time, memory and output, uses
///   a private temporary folder and is started without a shell; when this process ends in any way,
///   the compiler is killed and the folder removed;
/// - cached files are used only from a folder that nobody else can write to. Assembler directives
/// that macros assemble, and the actions of running code, are not restricted. NVRTC runs in this
/// process without memory limits, and its crash ends the process. After 30 s it is cancelled if its
/// version supports that; otherwise it may continue in its own thread.
///
/// Environment: CUDASCAN_NO_USER_CODE, if set and neither empty nor 0, turns user code off.
/// CUDASCAN_CXX is the compiler for the CPU, a path or a name in PATH, without arguments; the
/// default is the first of c++, g++ and clang++, else gswo-cc. CUDASCAN_GSWO_CC is the path of
/// gswo-cc; the default is the one of the same build or installation as this library, then the one
/// in PATH. CUDA_HOME is the folder of the CUDA Toolkit, if NVRTC is not found otherwise.
#pragma once
#include <stop_token>
#include <string>
#include <vector>

#include "common/api.h"

namespace cudascan::gswo {

struct SourceText {
  std::string name;  ///< name in messages and #include, such as "blur.cpp" or "gswo/window.h"
  std::string text;
};

/// What is compiled: C++20 for the CPU, the same with CUDA's keywords for the GPU.
struct Unit {
  SourceText main;  ///< may use #line, which messages then follow
  /// #include finds only these, by name: no system headers, no other files. Names are relative,
  /// without "." and ".." as parts.
  std::vector<SourceText> headers;
  std::vector<std::string> defines;  ///< NAME=VALUE or NAME
};

struct CodeOptions {
  /// Folder of the disk cache, "" = none. It is created if it does not exist. It is silently not
  /// used if it belongs to somebody else or others may write to it. Processes can share it. If it
  /// has more than 256 MiB, the least recently used files are removed.
  std::string cache_dir;
  /// Cancels compiling: it throws an Error within some hundredths of a second, and the programs it
  /// started are killed. NVRTC may continue for a while in its own thread.
  std::stop_token stop = {};
};

/// $XDG_CACHE_HOME/gst-cudascan or ~/.cache/gst-cudascan; "" if neither is known.
CUDASCAN_API std::string default_cache_dir();

/// Compiles without contraction (a * b + c rounds twice, as on the CPU) and without fast math.
/// Functions without an execution space are for the device.
/// @param architecture  compute capability of the GPU times ten: 90 for sm_90
/// @return a cubin; PTX of the highest lower architecture if NVRTC does not support the GPU's
/// @throws BadSetting with the compiler's messages, one a line, each as "file:line: error: text",
///         if the code is wrong, and if user code is turned off
/// @throws Error with the remedy if there is no NVRTC, or if it failed or took more than 30 s
CUDASCAN_API std::string compile_for_gpu(const Unit &, int architecture, const CodeOptions &);

/// Compiles for this machine's CPU. NaN, infinities, rounding and the sign of zeros are as in the
/// text; errno and floating-point flags are not maintained, and exceptions cannot be thrown.
/// @return a shared object
/// @throws BadSetting with the compiler's messages, one a line, each as "file:line:column: error:
///         text", if the code is wrong, and if user code is turned off
/// @throws Error with the remedy if there is no compiler, and if it crashed or took more than 30 s
///         of CPU time or 60 s in all
CUDASCAN_API std::string compile_for_cpu(const Unit &, const CodeOptions &);

}  // namespace cudascan::gswo
