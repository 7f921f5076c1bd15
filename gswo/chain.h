// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A function of the user as a list of steps on buffers. An element runs the steps for each frame.
///
/// Pixels that no window writes have the values of the input, as if the user had copied it into
/// every image before the first kernel. Every image is a buffer, and a kernel that filters in place
/// reads one and writes another. Host code between the kernels may declare variables, repeat
/// kernels a known number of times, and exchange images through their pointers; everything else
/// needs the stand-alone output.
#pragma once
#include "gswo/kernel.h"

namespace cudascan::gswo {

struct Buffer {
  enum Place { scratch, source, destination, other } place = scratch;
  std::string name;
  std::string type;  ///< of the pixels in the user's code
  bool used = false;

  /// Type of the pixels in memory.
  std::string memory_type() const;
};

struct Step {
  enum Kind { kernel, copy, clear, repeat, end, swap } kind = kernel;
  const Kernel *what = nullptr;         ///< of kernel
  std::string name = {};                ///< of copy; for repeat, the parameter with the count
  int from = -1, to = -1;               ///< of copy and swap; `to` of clear
  std::optional<Margins> margins = {};  ///< of copy: only these pixels are needed
  long count = 0;                       ///< of repeat, added to the parameter
  std::string turn = {};                ///< of repeat: the variable that counts, if windows use it
  long first = 0, step = 0;             ///< its first value and its increment
};

struct Chain {
  const clang::FunctionDecl *function = nullptr;
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<Scalar> counts;  ///< parameters that only repeats need
};

/// Chains the kernels of each function. Sets the buffers of their images.
std::vector<Chain> make_chains(const Unit &, const std::vector<std::unique_ptr<Kernel>> &);

/// Chains without steps, all buffers with the user's types: enough to write kernels.
std::vector<Chain> unchained(const std::vector<std::unique_ptr<Kernel>> &);

}  // namespace cudascan::gswo
