// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From darkness to ink, on the CPU.
#pragma once
#include "kernels/binarize/memory.h"

namespace cudascan::binarize {

/// What is known around each pixel of the second round.
template <typename T>
struct InkSurroundings {
  Plane<const T> darkest;  ///< M, in the sixteenth
  Plane<const T> cells;    ///< mean darkness of squares of 4x4 pixels
  Plane<const T> mean;     ///< the mean of the cells around each
};

/// Above what darkness is ink.
template <typename T>
struct InkLevels {
  RoundLevels round;
  InkWeights weights;
  int erosion;                       ///< the size of E
  const InkSurroundings<T> *around;  ///< null: all pixels have plain_level()
};

/// Finds the pixels of ink, and the cores among them if wanted.
/// @param d      with kPadding
/// @param cores  may be null; only with surroundings
template <typename T>
void find_ink(Cpu &cpu, Plane<const T> d, const InkLevels<T> &, const runlengths::BitPlane &ink,
              const runlengths::BitPlane *cores);

std::uint64_t count_ink(Cpu &cpu, const runlengths::BitPlane &ink);

/// D, the median darkness of ink in every kInkRows-th row; -1 if there is none.
template <typename T>
int median_darkness(Cpu &cpu, Plane<const T> d, const runlengths::BitPlane &ink);

}  // namespace cudascan::binarize
