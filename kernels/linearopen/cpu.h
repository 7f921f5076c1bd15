// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shared by the parts of the CPU's linear openings.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/base/aligned_memory.h"
#include "kernels/exec.h"
#include "kernels/linearopen/cover.h"
#include "kernels/linearopen/digital_lines.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {

/// Planes in memory of the executor, so that a stream of frames allocates once.
class PlaneScratch {
 public:
  /// Bytes of a plane.
  template <typename T>
  static std::size_t bytes_of(int width, int height) {
    return stride_of<T>(width) * height;
  }

  PlaneScratch() = default;
  PlaneScratch(Cpu &cpu, std::size_t bytes)
      : next_(static_cast<unsigned char *>(cpu.scratch(bytes))) {}

  template <typename T>
  Plane<T> take(int width, int height) {
    const auto data = reinterpret_cast<T *>(next_);
    next_ += bytes_of<T>(width, height);
    return {data, width, height, static_cast<std::ptrdiff_t>(stride_of<T>(width))};
  }

 private:
  static constexpr std::size_t kLine = AlignedMemory::kAlignment;
  /// An odd number of cache lines, so that the lines of a column do not all map to the same few
  /// sets.
  template <typename T>
  static std::size_t stride_of(int width) {
    return ((width * sizeof(T) + kLine - 1) / kLine | 1) * kLine;
  }
  unsigned char *next_ = nullptr;
};

void *thread_bytes(std::size_t bytes);
/// Scratch memory of the thread, aligned to 64 bytes.
template <typename T>
T *thread_memory(std::size_t samples) {
  return static_cast<T *>(thread_bytes(samples * sizeof(T)));
}

/// Opens along the lines that cut a plane.
/// @param direction  in this plane
/// @param flip       XORed with samples that are read
/// @return the sum of the openings, if the sink wants it
template <typename T>
std::int64_t open_partition(Cpu &, Plane<const T> in, T flip, const lines::Direction &direction,
                            int length, const Sink<T> &sink);

/// Gives columns x to x + n - 1 of a row of openings to a sink.
/// @return their sum, if the sink wants it
template <typename T>
std::int64_t give(const Sink<T> &sink, T flip, const T *opening, int n, int x, int y) {
  T *const best = sink.best.row(y) + x;
  T *const orientation = sink.orient ? sink.orientation.row(y) + x : nullptr;
  if (sink.first) {
    std::copy_n(opening, n, best);
    if (orientation) std::fill_n(orientation, n, sink.degree);
    if (sink.last) rows<T>().restore(best, n, flip);
  } else {
    rows<T>().accumulate(opening, n, best, orientation, sink.degree);
  }
  return sink.sum ? static_cast<std::int64_t>(rows<T>().sum(opening, n)) : 0;
}

/// Opens with the same segment at every pixel.
/// @param direction  in this plane
/// @param flip       XORed with samples that are read
/// @param scratch    invariant_scratch() bytes
/// @return the sum of the openings, if the sink wants it
template <typename T>
std::int64_t open_invariant(Cpu &, Plane<const T> in, T flip, const lines::Direction &direction,
                            int length, const Sink<T> &sink, PlaneScratch scratch);
template <typename T>
std::size_t invariant_scratch(Cpu &, const lines::Direction &direction, int length, int width,
                              int height);

/// The same along steep lines, best for long segments.
template <typename T>
std::int64_t open_in_strips(Cpu &, Plane<const T> in, T flip, const lines::Direction &direction,
                            const SegmentCover &, const Sink<T> &sink);

/// Largest total length of segments in several directions for which open_short() is best.
inline constexpr int kMostShort = 48;

/// Opens with the same short segments at every pixel, in several directions at once.
/// @param flip  XORed with samples that are read
/// @param last  whether `out` gets samples, not ordered integers
/// @param sums  unless nullptr, gets the sum of each direction's openings
template <typename T>
void open_short(Cpu &, Plane<const T> in, T flip, const std::vector<lines::Direction> &directions,
                int length, bool last, Plane<T> out, std::vector<std::int64_t> *sums);

}  // namespace cudascan::linearopen
