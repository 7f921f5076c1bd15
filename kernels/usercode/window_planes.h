// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Planes that built-in operators compute from a frame before a filter runs: results of functions
/// of its windows at each pixel.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "common/api.h"
#include "kernels/exec.h"
#include "kernels/usercode/target.h"
#include "kernels/usercode/window_calls.h"

namespace cudascan::gswo {

/// Kinds of planes, as bits of GSWO_PLANES. Planes are in this order.
enum WindowPlane : unsigned {
  kMinPlane = 1,
  kMaxPlane = 2,
  kMedianPlane = 4,
  kRankPlanes = 8,     ///< one for each argument of rank() and percentile()
  kSumPlane = 16,      ///< std::uint32_t
  kSquaresPlane = 32,  ///< sums of squares, WindowSquares<T>
  kCountPlane = 64     ///< std::uint16_t, of windows that the edges of the frame clip; on the CPU
};

/// A plane of rank(argument) or percentile(argument).
struct RankPlane {
  bool is_percentile;
  float argument;
  /// Share of the samples below it, in millionths, as the operator `rank` rounds it.
  std::int64_t millionths;
  /// Whether samples outside the frame count as samples of the largest level. The result is then
  /// the smaller one of the plane and the largest sample inside.
  bool fills_up;

  bool operator==(const RankPlane &) const = default;
};
inline constexpr int kMostRankPlanes = 8;
inline constexpr int kMostPlanes = 6 + kMostRankPlanes;

struct WindowPlanes {
  unsigned kinds = 0;  ///< bits of WindowPlane
  std::vector<RankPlane> ranks;
  bool other_ranks = false;  ///< some ranks are searched for at each pixel

  bool has(unsigned kind) const { return (kinds & kind) != 0; }
};

/// The planes for a filter that makes these calls: those that are made and read in less time than
/// the filter needs without them.
/// @param reads   none unless it is automatic
/// @param on_gpu  planes for the GPU, whatever the target is
CUDASCAN_API WindowPlanes planes_for(const WindowCalls &, const FilterTarget &,
                                     const std::vector<UserFilterConstant> &, UserFilterReads reads,
                                     bool on_gpu);

/// Counts the cells of windows that are in the frame, for those that are not inside as a whole.
/// Other samples of the plane stay as they are.
CUDASCAN_API void count_clipped(Cpu &, const Mask &, Plane<std::uint16_t> counts);

/// A share of the samples, in millionths, for which the operator `rank` gives sample number
/// number_of(n) of n, for all n in [least, most].
/// @return -1 if there is none
CUDASCAN_API std::int64_t share_for(int least, int most, int (*number_of)(int n, float argument),
                                    float argument);

}  // namespace cudascan::gswo
