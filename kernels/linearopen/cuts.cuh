// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Looks for the cuts (line_strips.cuh) with which openings along many lines take the least time.
#pragma once
#include <algorithm>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/exec.h"
#include "kernels/linearopen/line_strips.cuh"

namespace cudascan::linearopen {

/// Lines of many directions, upright or turned.
struct Lines {
  int steps = 0, across = 0;
  struct Of {
    int count;
    std::uint32_t slope;
  };
  std::vector<Of> directions;
};
/// Strips of a direction at most.
template <typename T, int lanes>
int most_strips(const Lines &lines) {
  int most = 0;
  for (const auto [count, slope] : lines.directions)
    most = std::max(most, divide_up(count, Form<T, lanes>::next(slope)));
  return most;
}

/// Threads side by side in a strip, and how strips of each kind are cut into parts.
struct Cuts {
  int lanes, threads, bytes;
  int strips;  ///< of a direction, at most
  Cut cut[2];
};

template <typename T, int lanes>
Cut cut_into(int parts, int steps, int length) {
  using Shape = Form<T, lanes>;
  constexpr int kRows = Shape::kRows, kTogether = 32 / lanes;
  const int halo = divide_up(length - 1, kRows);
  Cut cut{};
  cut.rows = divide_up(divide_up(steps, parts), kRows) * kRows;
  cut.parts = divide_up(steps, cut.rows);
  const int rows = std::min(cut.rows + 2 * halo * kRows, steps + (length - 1) / 2 + kRows - 1);
  cut.chunks = divide_up(divide_up(rows, kRows), kTogether) * kTogether;
  return cut;
}

/// About how many strips go through all rows of the image, and how many through some; these have
/// about so many rows together.
struct StripCounts {
  double whole = 0, others = 0, rows_of_others = 0;

  template <typename Shape>
  static StripCounts of(const Lines &lines) {
    StripCounts strips;
    for (const auto [count, slope] : lines.directions) {
      const int next = Shape::next(slope), through = std::max(0, 2 * lines.across - count);
      const double whole = slope == 0 ? divide_up(count, next) : through / double(next);
      strips.whole += whole;
      strips.others += divide_up(count, next) - whole;
      strips.rows_of_others += lines.steps * std::max(0., lines.across / double(next) + 1 - whole);
    }
    return strips;
  }
  double blocks(const Cut &cut) const {
    return whole * cut.parts + rows_of_others / cut.rows + others / 2;
  }
};

/// Looks for the cuts that take the least time.
template <typename T, int lanes>
void improve(Cuts &best, double &least, Cuda &cuda, const Lines (&lines)[2], int length) {
  using Shape = Form<T, lanes>;
  constexpr int kBlockReserve = 1024, kMostParts = 64;
  // Chunks before and after those of the result take part in only some of the work.
  constexpr double kOthers = 0.75;
  // Measured, in the time of a warp: how long blocks wait, and what a block costs besides its
  // warps. Factors: when all of a multiprocessor waits at once (kAlone), and when the rows of a
  // strip are short pieces of memory (kNarrow).
  constexpr double kWait = 6, kBlock = 0.4, kAlone = 1.17;
  constexpr double kNarrow = lanes == 16 ? 1 : lanes == 8 ? 1.3 : lanes == 4 ? 1.5 : 5;
  const int room = cuda.most_shared_memory();
  const int most_steps = std::max(lines[0].steps, lines[1].steps);
  const StripCounts strips[]{StripCounts::of<Shape>(lines[0]), StripCounts::of<Shape>(lines[1])};
  for (int parts = 1; parts <= std::min(kMostParts, divide_up(most_steps, Shape::kRows)); ++parts) {
    Cuts cuts{lanes, 0, 0, 0, {}};
    double work = 0, items = 0;
    for (int i = 0; i < 2; ++i) {
      if (lines[i].directions.empty()) continue;
      cuts.strips = std::max(cuts.strips, most_strips<T, lanes>(lines[i]));
      // Parts of about the same size.
      const int n = std::max(1, divide_up(lines[i].steps * parts, most_steps));
      const Cut cut = cuts.cut[i] = cut_into<T, lanes>(n, lines[i].steps, length);
      cuts.threads = std::max(cuts.threads, cut.chunks * lanes);
      cuts.bytes = std::max(cuts.bytes, Shape::shared_bytes(cut.chunks, length));
      const int own = cut.rows / Shape::kRows, others = std::max(cut.chunks - own, 0);
      const double blocks = strips[i].blocks(cut);
      items += blocks;
      work += blocks * (own + kOthers * others) * lanes / 32;
    }
    if (cuts.threads > Shape::kMostThreads || cuts.bytes > room) continue;
    const int blocks = std::max(
        1, std::min(room / (cuts.bytes + kBlockReserve), Shape::kMostThreads / cuts.threads));
    const double rounds = items / (blocks * cuda.multiprocessors());
    const double time = (rounds <= 1.01 ? 1 : std::max(rounds, 1.25)) * (blocks == 1 ? kAlone : 1) *
                        (kWait + blocks * (kBlock + kNarrow * work / items));
    if (least == 0 || time < least) {
      least = time;
      best = cuts;
    }
  }
}
template <typename T>
Cuts best_cuts(Cuda &cuda, const Lines (&lines)[2], int length) {
  Cuts best{};
  double least = 0;
  improve<T, kMostLanes>(best, least, cuda, lines, length);
  if (length <= Form<T, kMostLanes>::kRows) return best;
  improve<T, 8>(best, least, cuda, lines, length);
  improve<T, 4>(best, least, cuda, lines, length);
  improve<T, 1>(best, least, cuda, lines, length);
  return best;
}

}  // namespace cudascan::linearopen
