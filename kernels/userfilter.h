// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Filters written by users: a formula or a source file, which is compiled when it is first needed
/// and computes each pixel from the window around it. They run as the operator `custom` of
/// kernels/swofilter.h. gswo/window.h describes the window's functions and how results become
/// samples. Outside the image:
///
/// | border    | min(), mean(), median() ... see | p(dx, dy) outside gives      |
/// |-----------|---------------------------------|------------------------------|
/// | clip      | samples of the image only       | the nearest sample           |
/// | replicate | the nearest sample              | the same                     |
/// | reflect   | the image reflected             | the same                     |
/// | constant  | the level border-value          | the same                     |
///
/// The same text is compiled for the GPU and for the CPU, without contraction and fast math, and
/// calls the same library (gswo/library.h): results are identical.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kernels/exec.h"

namespace cudascan {

/// The samples outside the image.
enum class WindowBorder { clip, replicate, reflect, constant };

/// From where the GPU reads the samples of a window.
enum class UserFilterReads {
  automatic,  ///< the best; functions of large windows, such as min(), use built-in operators
  global,     ///< the frame itself
  shared,     ///< shared memory, which each block fills with its tile and the surroundings
  texture,    ///< the frame, through a texture
};

/// A named number that the code can use. An integer is a compile-time constant, so it can
/// be the size of an array; a real number has type float, and changing it needs no recompilation.
struct UserFilterConstant {
  std::string name;
  std::variant<std::int64_t, double> value;
  bool operator==(const UserFilterConstant &) const = default;
};

/// The code is trusted: it has all the rights of the process.
struct UserFilterParams {
  std::string expression = {};  ///< a formula, for instance "p.max() - p.min()"; or
  /// path of a file: C++ with a function `float filter(auto p)`; C or C++ with the pragmas of the
  /// GSWO model; or the output of gswo-cc for such a file, edited or not.
  std::string source = {};
  std::string function = "filter";                 ///< its name, if the file has several
  std::vector<UserFilterConstant> constants = {};  ///< names in the code
  bool reload = false;                             ///< load the file again when it has changed
  /// Folder for compiled code; "auto" = gst-cudascan in $XDG_CACHE_HOME or ~/.cache, "" = none.
  std::string cache_dir = "auto";
  std::string emit_cuda = {};  ///< path of a file that run() writes the CUDA code to; "" = none
  /// Allow only formulas of samples, constants and mathematical functions, and sources with pragmas
  /// that use only functions in the file or mathematical ones, without assembler, pointers and
  /// endless loops.
  bool strict = false;
  // How the GPU divides the work; the result is the same.
  int tile_width = 0;   ///< columns of pixels for a block, 1..1024; 0 = the best known
  int tile_height = 0;  ///< rows of pixels for a block, 1..1024; 0 = the best known
  /// Columns of a tile for a thread: 1, 2 or 4, a divisor of tile_width; 0 = the best known.
  int chunk_width = 0;
  /// Rows of a tile for a thread, 1..64, a divisor of tile_height; 0 = the best known.
  int chunk_height = 0;
  UserFilterReads reads = UserFilterReads::automatic;
  /// On the first frame, try promising values of these on this GPU; cache_dir keeps the best.
  bool tune = false;

  bool operator==(const UserFilterParams &) const = default;
};

/// Why the last run() with `reload` used the old contents of a file instead of the new ones; "" if
/// there is nothing to report. Reports everything once.
CUDASCAN_API std::string take_warning(Cpu &);
CUDASCAN_API std::string take_warning(Cuda &);

/// The compiled code of the last run() of an executor.
struct UserFilterCode {
  std::string cuda_source;  ///< as written by emit_cuda
  std::string log;          ///< messages of the translator
};
/// Null for an executor that has run no user's filter. Different code gives a different object.
CUDASCAN_API std::shared_ptr<const UserFilterCode> code_of(Cpu &);
CUDASCAN_API std::shared_ptr<const UserFilterCode> code_of(Cuda &);

/// The version of gswo-cc, which translates sources with pragmas; "" if it cannot be run.
CUDASCAN_API std::string translator_version();

}  // namespace cudascan
