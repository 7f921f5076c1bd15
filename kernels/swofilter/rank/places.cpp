// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/places.h"

#include <algorithm>
#include <utility>

#include "kernels/base/simd.h"
#include "kernels/swofilter/rank/rows.h"
#include "kernels/swofilter/rank/tiling.h"

namespace cudascan::swo {
namespace {

/// Samples beyond the right end that vectors read.
constexpr int kBeyond = 32;
/// A column that is in no window.
constexpr std::uint16_t kNoColumn = 0x4000;

template <typename T>
class PlaceSorter {
 public:
  PlaceSorter(Plane<const T> in, Plane<T> out, const FilterJob &job, int width, int height)
      : in_(in), out_(out), job_(job) {
    const Mask across = job.mask(), down = across.transposed();
    is_transposed_ = across.height < across.width;
    const Mask &mask = is_transposed_ ? down : across;
    rx_ = mask.rx(), ry_ = mask.ry();
    // Small tiles have few places for each sample of a window; large ones have less margin.
    along_ = std::min(std::clamp(4 * rx_, 32, 256), is_transposed_ ? height : width);
    across_ = std::min(std::clamp(4 * ry_, 32, 128), is_transposed_ ? width : height);
    rows_ = across_ + 2 * ry_;
    pitch_ = up_to_multiple(along_ + 2 * rx_ + kBeyond, kTileLine / 2) + kTileLine / 2;
    most_ = up_to_multiple((along_ + 2 * rx_) * rows_, kPlacesInGroup) + kPlacesInGroup;
    window_.ry = ry_;
    for (const Run &run : mask.runs()) {
      if (run.y >= 0) window_.reaches[run.y] = static_cast<std::uint16_t>(run.last + 1);
      const int row = run.y * pitch_;
      window_.right.push_back({row + run.first, row + run.last + 1});
      for (int x = run.first; x <= run.last; ++x) window_.cells.push_back(row + x);
    }
    for (const Run &run : mask.transposed().runs())
      window_.down.push_back({run.first * pitch_ + run.y, (run.last + 1) * pitch_ + run.y});
  }

  int width() const { return is_transposed_ ? across_ : along_; }
  int height() const { return is_transposed_ ? along_ : across_; }
  std::size_t bytes() const {
    const std::size_t plane = plane_bytes(), places = place_bytes();
    return 2 * plane + 3 * places + (kSorts ? 2 * places : 0);
  }

  void run(const TileBox &pixels, unsigned char *memory) const {
    const auto groups = reinterpret_cast<std::int16_t *>(memory);
    const auto samples = reinterpret_cast<std::uint16_t *>(memory += plane_bytes());
    const auto columns = reinterpret_cast<std::uint16_t *>(memory += plane_bytes());
    const auto rows = reinterpret_cast<std::uint16_t *>(memory += place_bytes());
    const auto values = reinterpret_cast<T *>(memory += place_bytes());
    const auto order = reinterpret_cast<std::uint32_t *>(memory += place_bytes());
    const TileBox all = samples_of(pixels, job_.mask());
    TileBox box = present(all, in_.width, in_.height, job_);
    const bool is_clipped = box != all;
    if (is_clipped) {
      std::fill_n(groups, std::size_t(pitch_) * rows_, kAbsentGroup);
      std::fill_n(samples, std::size_t(pitch_) * rows_, std::uint16_t{0});
    }
    const std::ptrdiff_t dx = is_transposed_ ? pitch_ : 1, dy = is_transposed_ ? 1 : pitch_;
    copy_samples(in_, job_, box, samples + (box.x0 - all.x0) * dx + (box.y0 - all.y0) * dy, dx, dy);
    box = {box.x0 - all.x0, box.x1 - all.x0, box.y0 - all.y0, box.y1 - all.y0};
    if (is_transposed_) box = {box.y0, box.y1, box.x0, box.x1};
    sort(samples, box, order, {columns, rows, values}, groups);
    const std::ptrdiff_t middle = std::ptrdiff_t(ry_) * pitch_ + rx_;
    PlaceTile<T> tile{groups + middle,
                      samples + middle,
                      pitch_,
                      columns,
                      rows,
                      values,
                      rx_,
                      ry_,
                      pixels.width(),
                      pixels.height(),
                      is_clipped,
                      out_.row(pixels.y0) + pixels.x0,
                      1,
                      out_.stride / std::ptrdiff_t(sizeof(T))};
    if (is_transposed_) std::swap(tile.width, tile.height), std::swap(tile.dx, tile.dy);
    rank_loops<T>().follow(tile, window_, job_);
  }

 private:
  static constexpr bool kSorts = sizeof(T) > 1;  ///< by two digits
  struct Places {
    std::uint16_t *columns, *rows;
    T *values;
  };

  std::size_t plane_bytes() const {
    return up_to_multiple<std::size_t>((std::size_t(pitch_) * rows_ + kBeyond) * 2, kTileLine);
  }
  std::size_t place_bytes() const { return up_to_multiple<std::size_t>(most_ * 2, kTileLine); }

  void sort(const std::uint16_t *samples, const TileBox &box, std::uint32_t *order,
            const Places &to, std::int16_t *groups) const {
    DigitPlaces next;
    for (int y = box.y0; y < box.y1; ++y)
      for (int x = box.x0; x < box.x1; ++x) next.count(static_cast<T>(samples[y * pitch_ + x]));
    next.begin();
    const auto put = [&](std::uint32_t x, std::uint32_t y, std::uint32_t *places, int shift) {
      const std::uint32_t at = y * static_cast<std::uint32_t>(pitch_) + x;
      const std::uint32_t place = places[samples[at] >> shift]++;
      to.columns[place] = static_cast<std::uint16_t>(x);
      to.rows[place] = static_cast<std::uint16_t>(y);
      to.values[place] = static_cast<T>(samples[at]);
      groups[at] = static_cast<std::int16_t>(place / kPlacesInGroup);
    };
    for (int x = box.x0; x < box.x1; ++x)
      for (int y = box.y0; y < box.y1; ++y) {
        if constexpr (kSorts)
          order[next.lower[samples[y * pitch_ + x] & 255]++] =
              static_cast<std::uint32_t>(y << 16 | x);
        else
          put(x, y, next.lower, 0);
      }
    const int n = box.width() * box.height();
    if constexpr (kSorts)
      for (int i = 0; i < n; ++i) put(order[i] & 0xffff, order[i] >> 16, next.upper, 8);
    for (int i = n; i < most_ && i < n + kPlacesInGroup; ++i)
      to.columns[i] = kNoColumn, to.rows[i] = 0, to.values[i] = 0;
  }

  const Plane<const T> in_;
  const Plane<T> out_;
  const FilterJob &job_;
  FollowedWindow window_;
  bool is_transposed_;
  int rx_, ry_, along_, across_, rows_, pitch_, most_;
};

}  // namespace

bool has_followed_shape(const Mask &mask) {
  if (mask.rectangle || mask == Mask::make_ellipse(mask.width, mask.height)) return true;
  constexpr int kMostSide = 31;
  return std::min(mask.width, mask.height) > kMostSide && !mask.is_cross() &&
         mask.reaches_inwards() && mask.is_symmetric();
}

template <typename T>
bool can_follow(const FilterJob &job) {
  const Mask &mask = job.mask();
  if (!rank_loops<T>().follow || job.op == SwoFilterOperator::mode) return false;
  // Histograms of bytes are faster for small windows.
  const bool is_long = kIsa >= Isa::avx512;  // vectors
  const int least = sizeof(T) > 1                                     ? 3
                    : job.op == SwoFilterOperator::alpha_trimmed_mean ? (is_long ? 43 : 91)
                                                                      : (is_long ? 13 : 31);
  if (std::min(mask.width, mask.height) < least) return false;
  return has_followed_shape(mask);
}
template bool can_follow<std::uint8_t>(const FilterJob &);
template bool can_follow<std::uint16_t>(const FilterJob &);

template <typename T>
void follow_places(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job, int x0, int x1,
                   int y0, int y1) {
  if (x0 >= x1 || y0 >= y1) return;
  const PlaceSorter<T> sorter(in, out, job, x1 - x0, y1 - y0);
  for_tiles(cpu, {x0, x1, y0, y1}, sorter.width(), sorter.height(), sorter.bytes(),
            [&](const TileBox &pixels, unsigned char *memory) { sorter.run(pixels, memory); });
}
template void follow_places(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>,
                            const FilterJob &, int, int, int, int);
template void follow_places(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>,
                            const FilterJob &, int, int, int, int);

}  // namespace cudascan::swo
