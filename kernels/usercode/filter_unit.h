// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What compilers are given to make a filter of the user's text.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/usercode/code.h"
#include "kernels/usercode/target.h"

namespace cudascan::gswo {

/// A function that is called with the window of each pixel.
struct FilterText {
  SourceText source;     ///< as the user wrote it
  bool is_expression;    ///< a formula; else a file with a function
  std::string function;  ///< that function
  std::vector<UserFilterConstant> constants;
};

/// How the work is shared on the GPU.
struct FilterLaunch {
  int tile_width, tile_height;    ///< pixels of a block of threads
  int chunk_width, chunk_height;  ///< of these for each thread
  UserFilterReads reads;          ///< never automatic
  int edge_x, edge_y;             ///< pixels whose windows may not lie in the frame

  int block_width() const { return tile_width / chunk_width; }  ///< threads
  int block_height() const { return tile_height / chunk_height; }
  /// Blocks for a frame, columns and rows.
  std::array<unsigned, 2> grid(int width, int height) const;
};

/// What a filter does with the samples of its windows.
enum class WindowUse {
  reads,  ///< them one by one
  sorts,  ///< them: many are kept at once
  none    ///< but the pixel's own: all the rest is in planes
};

/// What the parameters say, and where they leave it open what is best for windows of this kind.
/// @throws BadSetting if a block would have too many threads, or too much shared memory
FilterLaunch choose_launch(const Mask &window, WindowUse, const UserFilterParams &);

/// Planes that built-in operators make of a frame before it is filtered, as bits. They are in this
/// order.
enum WindowPlane : unsigned { kMinPlane = 1, kMaxPlane = 2, kMedianPlane = 4 };
inline constexpr int kMostPlanes = 3;

/// @param planes  of WindowPlane, those that the filter finds with its frames
/// @param launch  null for the CPU
Unit make_filter_unit(const FilterText &, const FilterTarget &, unsigned planes,
                      const FilterLaunch *launch);

/// @param translated  what gswo-cc wrote, and the user may have edited
/// @param reads       texture, or whatever the text does
Unit make_chain_unit(const SourceText &translated, const FilterTarget &, UserFilterReads reads);

/// The names of the variables that hold the real numbers among the constants, as the object code
/// has them, in their order.
std::vector<std::string> real_constant_symbols(const std::vector<UserFilterConstant> &);

/// The frame as kernels and functions of a unit take it.
struct Frame {
  void *data;
  long long stride;
  int width, height;
  unsigned long long texture;  ///< of the samples of a frame that is read, 0 = none
};
inline constexpr const char *kEntryPoint = "gswo_filter";
/// What is filtered, as kernels and functions take it that know so many planes. The rows of these
/// begin at multiples of eight bytes.
struct Input {
  Frame frame;
  Frame planes[kMostPlanes];
};
using CpuEntryPoint = void(const Input *in, const Frame *out, int begin, int end);

}  // namespace cudascan::gswo
