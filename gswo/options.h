// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the command line of gswo-cc says.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudascan::gswo {

enum class Emit {
  kernel,         ///< one file that is both CUDA and C++, for the element
  standalone,     ///< a CUDA program: the user's host code with launches in it
  plain,          ///< the user's file without its pragmas
  shared_object,  ///< code of this machine, of C++ as it is
};

/// A parameter that `--set` makes a constant.
struct Constant {
  std::string text;           ///< as C++ has it
  std::optional<long> whole;  ///< its value, if it is a whole number
};

struct Options {
  std::string input;
  std::string output;  ///< empty = standard output
  Emit emit = Emit::kernel;
  std::map<std::string, Constant> constants;
  bool tiles = true;  ///< keep tiles of the input in shared memory
  /// Pixels of a block of threads and those for a thread, whatever the pragmas say; 0 = as they say.
  int tile_width = 0, tile_height = 0, chunk_width = 0, chunk_height = 0;
  bool system_headers = false;                  ///< no other files are included
  bool strict = false;                          ///< which has that, too
  std::vector<std::string> compiler_arguments;  ///< -I and -D, as given
};

}  // namespace cudascan::gswo
