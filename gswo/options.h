// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The command-line options of gswo-cc.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace cudascan::gswo {

enum class Emit {
  kernel,         ///< one file that is both CUDA and C++, for the element
  standalone,     ///< a CUDA program: the user's host code with kernel launches
  plain,          ///< the user's file without its pragmas
  shared_object,  ///< machine code of untranslated C++
};

/// A parameter that `--set` makes a constant.
struct Constant {
  std::string text;           ///< as a C++ literal
  std::optional<long> whole;  ///< its value, if it is a whole number
};

struct Options {
  std::string input;
  std::string output;  ///< empty = standard output
  Emit emit = Emit::kernel;
  std::map<std::string, Constant> constants;
  bool tiles = true;  ///< keep tiles of the input in shared memory
  /// Pixels of a block and of a thread; 0 = as the pragmas say.
  int tile_width = 0, tile_height = 0, chunk_width = 0, chunk_height = 0;
  bool system_headers = false;                  ///< allow only system headers
  bool strict = false;                          ///< implies system_headers
  std::vector<std::string> compiler_arguments;  ///< -I and -D, as given
};

}  // namespace cudascan::gswo
