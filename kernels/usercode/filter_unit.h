// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Makes the compiler's input for a filter from the user's text.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/usercode/code.h"
#include "kernels/usercode/target.h"
#include "kernels/usercode/window_planes.h"

namespace cudascan::gswo {

/// A function that is called with the window of each pixel.
struct FilterText {
  SourceText source;     ///< as the user wrote it
  bool is_expression;    ///< a formula; else a file with a function
  std::string function;  ///< that function
  std::vector<UserFilterConstant> constants;
};

/// How the work is divided on the GPU.
struct FilterLaunch {
  int tile_width, tile_height;    ///< pixels of a block of threads
  int chunk_width, chunk_height;  ///< of these for each thread
  UserFilterReads reads;          ///< never automatic
  int edge_x, edge_y;             ///< pixels whose windows may extend beyond the frame
  bool sums = false;              ///< the filter may ask for sums over its windows

  int block_width() const { return tile_width / chunk_width; }  ///< threads
  int block_height() const { return tile_height / chunk_height; }
  /// Blocks for a frame, columns and rows.
  std::array<unsigned, 2> grid(int width, int height) const;
};

/// How a filter uses the samples of its windows.
enum class WindowUse {
  reads,  ///< reads them one by one
  sorts,  ///< sorts them: keeps many at once
  sums,   ///< only adds them up
  none    ///< only reads the pixel's own sample: all others are in planes
};

/// The parameters' values or, where these are automatic, the best for windows of this kind.
/// @throws BadSetting if a block would have too many threads, or too much shared memory
FilterLaunch choose_launch(const Mask &window, WindowUse, const UserFilterParams &);

/// @param planes  provided with each frame
/// @param launch  null for the CPU
Unit make_filter_unit(const FilterText &, const FilterTarget &, const WindowPlanes &planes,
                      const FilterLaunch *launch);

/// @param translated  the output of gswo-cc, perhaps edited by the user
/// @param reads       texture, or as the text does
Unit make_chain_unit(const SourceText &translated, const FilterTarget &, UserFilterReads reads);

/// The symbol names of the variables for the real numbers among the constants, in order.
std::vector<std::string> real_constant_symbols(const std::vector<UserFilterConstant> &);

/// The frame as argument of a unit's kernels and functions.
struct Frame {
  void *data;
  long long stride;
  int width, height;
  unsigned long long texture;  ///< of the samples of a frame that is read, 0 = none
};
inline constexpr const char *kEntryPoint = "gswo_filter";
/// The input as argument of kernels and functions with this many planes. Rows of planes begin at
/// multiples of eight bytes.
struct Input {
  Frame frame;
  Frame planes[kMostPlanes];
};
using CpuEntryPoint = void(const Input *in, const Frame *out, int begin, int end);

}  // namespace cudascan::gswo
