// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The algorithms that the publication in linearopen.h compares, for comparison. Elements have
/// those of LinearOpenAlgorithm; the others run in tests and in the benchmark. All give the results
/// of `automatic`. What differs from the publication:
///
/// - The part of a segment outside the image does not count (linearopen.h). So a line is treated as
///   if length / 2 samples before it and (length - 1) / 2 after it were larger than any other.
/// - Morard's stack has no flags (scan.h).
/// - The optimized algorithms read with loads that are cached as read-only, in the cache that
///   textures use, unless ZoneSettings::texture is set.
///
/// On the GPU the directions of a call are opened by one launch (section 6.1), unless there are
/// more than kMostPublishedDirections or their scratch memory would exceed 512 MiB.
#pragma once
#include <cstdint>
#include <span>

#include "kernels/linearopen.h"
#include "kernels/linearopen/digital_lines.h"

namespace cudascan::linearopen {

enum class PublishedOpening {
  morard,           ///< Algorithm 1
  bartovsky,        ///< Algorithm 2
  morard_zones,     ///< with the optimizations of section 5; on the CPU the same as `morard`
  bartovsky_zones,  ///< the same for `bartovsky`
  /// Algorithm 2 in the order of the image, as it was designed (section 4.1), only on the CPU: each
  /// row continues the queues of all steep lines. Flat lines are opened one after another.
  bartovsky_rows,
  van_droogenbroeck,  ///< anchors.h; only on the CPU, samples of 8 and 16 bits
  clienti,            ///< erosion and dilation, van_herk.h; only on the CPU
};

/// @param algorithm  not automatic
CUDASCAN_API PublishedOpening published_opening(LinearOpenAlgorithm algorithm);

/// The parameters of section 5.4, for the algorithms with zones; 0 = chosen by its rules.
struct ZoneSettings {
  static constexpr int kMostThreads = 256;

  int zones = 0;         ///< Z, from 1 for no split; at most one for each pixel along the lines
  int threads = 0;       ///< S_b of a block: a multiple of 32 up to kMostThreads
  int recent = 0;        ///< l, the entries of a queue or stack in shared memory; a power of two
  bool texture = false;  ///< read the image, copied to aligned rows, through texture memory
};

/// What the rules of section 5.4 depend on.
struct ZoneProblem {
  int lines;            ///< T, threads without a split (equation 4), of all directions
  int steps;            ///< w or h: pixels along the lines, the least of all directions
  int length;           ///< lambda
  int entry;            ///< d, bytes
  int multiprocessors;  ///< N_MP
  int shared;           ///< S, bytes of shared memory
};

/// Replaces each 0 by its rule. Throws BadSetting if another value is out of range or needs more
/// shared memory than there is.
CUDASCAN_API ZoneSettings choose_zones(const ZoneSettings &wanted, const ZoneProblem &problem);

/// Equation 5: the predicted speed-up over one zone.
CUDASCAN_API double predicted_speedup(int zones, int length, int steps);

/// Opens along the lines of one direction. Samples are unsigned integers of 8, 16 or 32 bits.
/// Throws BadSetting for an algorithm that does not support them.
template <typename T>
CUDASCAN_API void open_lines(Cpu &, PublishedOpening algorithm, const lines::Direction &direction,
                             int length, Plane<const T> in, Plane<T> out);

/// Results of several directions: planes of one size and stride.
template <typename T>
struct OpenedPlanes {
  Plane<T> first;
  std::size_t bytes;  ///< from one to the next
};
/// Directions of a launch.
inline constexpr int kMostPublishedDirections = 256;

/// Opens along directions on the GPU, queued. Throws BadSetting for an algorithm without a GPU form
/// and for what choose_zones() refuses.
/// @param scratch  device memory, see open_lines_scratch()
template <typename T>
CUDASCAN_API void open_lines(Cuda &, PublishedOpening algorithm,
                             std::span<const lines::Direction> directions, int length,
                             Plane<const T> in, const OpenedPlanes<T> &out, void *scratch,
                             const ZoneSettings &settings = {});
/// Bytes of `scratch` needed.
/// @param sample  bytes
CUDASCAN_API std::size_t open_lines_scratch(Cuda &, PublishedOpening algorithm,
                                            std::span<const lines::Direction> directions,
                                            int length, int width, int height, std::size_t sample,
                                            const ZoneSettings &settings = {});

}  // namespace cudascan::linearopen
