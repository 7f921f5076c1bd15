// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "kernels/base/simd.h"
#include "kernels/swofilter/scratch.h"

#ifdef CUDASCAN_X86_64
#include <immintrin.h>
#endif

#define CUDASCAN_LOOPS "kernels/swofilter/rank/loops.inc"
#include "kernels/base/simd_each.inc"

namespace cudascan::swo {

template <typename T>
const RankLoops<T> &rank_loops() {
  return CUDASCAN_FASTEST(kLoops<T>);
}
template const RankLoops<std::uint8_t> &rank_loops();
template const RankLoops<std::uint16_t> &rank_loops();

void slide_rows(const RankTile<std::uint16_t> &tile, const SlidingWindow &window) {
  CUDASCAN_FASTEST(slide_rows(tile, window));
}
void slide_crosses(const RankTile<std::uint16_t> &tile, const SlidingWindow &window) {
  CUDASCAN_FASTEST(slide_crosses(tile, window));
}
template <typename T>
bool find_frequent(const RankTile<T> &tile, std::ptrdiff_t pitch, const TileBox &box,
                   const FrequentWindow &window, void *memory) {
  return CUDASCAN_FASTEST(find_frequent(tile, pitch, box, window, memory));
}
template bool find_frequent(const RankTile<std::uint8_t> &, std::ptrdiff_t, const TileBox &,
                            const FrequentWindow &, void *);
template bool find_frequent(const RankTile<std::uint16_t> &, std::ptrdiff_t, const TileBox &,
                            const FrequentWindow &, void *);
int mode_rows() {
  return CUDASCAN_FASTEST(ModeRows::kRows);
}

template <typename T>
void ask_cross(const Area<T> &area, const FilterJob &job) {
  CUDASCAN_FASTEST(ask_cross(area, job));
}
template void ask_cross(const Area<std::uint8_t> &, const FilterJob &);
template void ask_cross(const Area<std::uint16_t> &, const FilterJob &);

void ask_columns(const Area<std::uint8_t> &area, const FilterJob &job) {
  CUDASCAN_FASTEST(ask_columns(area, job));
}

}  // namespace cudascan::swo
