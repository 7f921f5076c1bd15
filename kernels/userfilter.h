// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Filters that users write: a formula or a source file, which is compiled when it is first needed
/// and computes each pixel from the window around it. They run as the operator `custom` of
/// kernels/swofilter.h. What the code can ask of the window, and how results become samples, is
/// described in gswo/window.h. What is outside of the image:
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

/// What is outside of the image.
enum class WindowBorder { clip, replicate, reflect, constant };

/// Where the GPU reads the samples of a window from.
enum class UserFilterReads {
  automatic,  ///< what is best; whole large windows' min(), max(), median() from built-in operators
  global,     ///< the frame itself
  shared,  ///< shared memory, which each block of threads fills with its tile and what surrounds it
  texture,  ///< the frame, through a texture
};

/// A named number that the code can use. An integer is known to the compiler, so that it can be the
/// size of an array; a real number is of type float, and changing it costs nothing.
struct UserFilterConstant {
  std::string name;
  std::variant<std::int64_t, double> value;
  bool operator==(const UserFilterConstant &) const = default;
};

/// The code is trusted: it has all the rights of the process.
struct UserFilterParams {
  std::string expression = {};  ///< a formula, for instance "p.max() - p.min()"; or
  /// path of a file: C++ with a function `float filter(auto p)`; C or C++ with the pragmas of the
  /// GSWO model; or what gswo-cc made of such a file, edited or not.
  std::string source = {};
  std::string function = "filter";                 ///< its name, if the file has several
  std::vector<UserFilterConstant> constants = {};  ///< names in the code
  bool reload = false;  ///< take what is in the file now, as soon as it has changed
  /// Folder for compiled code; "auto" = gst-cudascan in $XDG_CACHE_HOME or ~/.cache, "" = none.
  std::string cache_dir = "auto";
  std::string emit_cuda = {};  ///< path of a file that run() writes the CUDA code to; "" = none
  /// Take no code but formulas of samples, constants and mathematics, and sources with pragmas
  /// whose functions are all in the file or of mathematics, without assembler, pointers and endless
  /// loops.
  bool strict = false;
  // How the GPU shares the work; the result is the same.
  int tile_width = 0;   ///< columns of pixels for a block of threads, 1..1024; 0 = the best known
  int tile_height = 0;  ///< rows of pixels for a block, 1..1024; 0 = the best known
  /// Columns of a tile for a thread: 1, 2 or 4; tile_width is a multiple of it. 0 = the best known.
  int chunk_width = 0;
  /// Rows of a tile for a thread, 1..64; tile_height is a multiple of it. 0 = the best known.
  int chunk_height = 0;
  UserFilterReads reads = UserFilterReads::automatic;
  /// Try, on the first frame, what may be best of these on this GPU; what it was is kept in
  /// cache_dir.
  bool tune = false;

  bool operator==(const UserFilterParams &) const = default;
};

/// Why what is in a file now was not taken by the last run() with `reload`, which used what was
/// there before; "" if there is nothing to tell. Tells everything once.
CUDASCAN_API std::string take_warning(Cpu &);
CUDASCAN_API std::string take_warning(Cuda &);

/// What the code came to in the last run() of an executor.
struct UserFilterCode {
  std::string cuda_source;  ///< as emit_cuda has it
  std::string log;          ///< what the translator had to say
};
/// Null for an executor that has run no user's filter. Another object when the code is another.
CUDASCAN_API std::shared_ptr<const UserFilterCode> code_of(Cpu &);
CUDASCAN_API std::shared_ptr<const UserFilterCode> code_of(Cuda &);

/// The version of gswo-cc, which translates sources with pragmas; "" if there is none that can be
/// run.
CUDASCAN_API std::string translator_version();

}  // namespace cudascan
