// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/rank/tiles.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/swofilter/rank/rows.h"
#include "kernels/swofilter/rank/tiling.h"

namespace cudascan::swo {
namespace {

/// Runs of the smallest windows whose modes are looked for among frequent values.
constexpr std::size_t kFrequentRuns = 41;

/// Tiles of an area, their sizes, and what a worker needs for one at a time.
template <typename T>
class TileWorker {
 public:
  using Code = RankCode<T>;
  static constexpr bool kSorts = sizeof(T) > 1;
  static constexpr int kCodeBytes = sizeof(Code);

  TileWorker(Plane<const T> in, Plane<T> out, const FilterJob &job, int width, int height)
      : in_(in), out_(out), job_(job) {
    const Mask &mask = job.mask(), down = mask.transposed();
    window_.runs = mask.runs();
    std::vector<Run> columns = down.runs();
    is_transposed_ = columns.size() < window_.runs.size();
    if (is_transposed_) std::swap(columns, window_.runs);
    rx_ = is_transposed_ ? mask.ry() : mask.rx(), ry_ = is_transposed_ ? mask.rx() : mask.ry();
    // Small tiles have few codes for each sample of the window; large ones have less margin.
    const auto most = [&](int reach, int limit) {
      return kSorts ? std::clamp(4 * reach, limit / 4, limit) : limit;
    };
    most_along_ = std::min(has_rows() ? std::clamp(8 * rx_, 96, 384) : most(rx_, 256),
                           is_transposed_ ? height : width);
    most_across_ =
        std::min(has_rows() ? mode_rows() : most(ry_, 128), is_transposed_ ? width : height);
    columns_ = most_along_ + 2 * rx_, rows_ = most_across_ + 2 * ry_;
    // An odd number of lines, so that the columns of the window spread over the cache.
    pitch_ =
        (up_to_multiple(columns_ * kCodeBytes, kTileLine) / kTileLine | 1) * kTileLine / kCodeBytes;
    const std::size_t n = std::size_t(columns_) * rows_;
    window_.pitch = pitch_;
    window_.absent =
        unsigned(sizeof(T) == 1             ? 256
                 : is_mode() && !has_rows() ? 65536
                 : is_mode() ? up_to_multiple<std::size_t>(std::min<std::size_t>(n, 65536), 64)
                             : up_to_multiple<std::size_t>(n, 64));
    for (const Run &run : window_.runs) {
      const int row = run.y * pitch_;
      window_.right.push_back({row + run.first, row + run.last + 1});
      window_.left.push_back({row + run.last, row + run.first - 1});
    }
    if (is_frequent()) frequent_ = FrequentWindow(window_.runs, rx_, ry_);
    for (const Run &run : columns)
      window_.down.push_back({run.first * pitch_ + run.y, (run.last + 1) * pitch_ + run.y});
  }

  int along() const { return is_transposed_ ? most_across_ : most_along_; }
  int across() const { return is_transposed_ ? most_along_ : most_across_; }

  /// Bytes of memory for one tile.
  std::size_t bytes() const {
    const std::size_t n = std::size_t(pitch_) * rows_;
    std::size_t bytes = 0;
    for_arrays([&](std::size_t size) { bytes += up_to_multiple<std::size_t>(size, kTileLine); }, n);
    return bytes;
  }

  void run(const TileBox &place, unsigned char *memory) const {
    const std::size_t n = std::size_t(pitch_) * rows_;
    unsigned char *arrays[5], **next = arrays;
    for_arrays(
        [&](std::size_t size) {
          *next++ = memory;
          memory += up_to_multiple<std::size_t>(size, kTileLine);
        },
        n);
    const auto codes = reinterpret_cast<Code *>(arrays[0]);
    const auto samples = reinterpret_cast<T *>(arrays[1]);
    const auto values = reinterpret_cast<T *>(arrays[2]);
    const int width = place.x1 - place.x0, height = place.y1 - place.y0;
    const std::ptrdiff_t stride = out_.stride / std::ptrdiff_t(sizeof(T));
    const std::ptrdiff_t middle = ry_ * pitch_ + rx_;
    RankTile<T> tile{codes + middle,
                     samples + middle,
                     values,
                     256,
                     arrays[4],
                     width,
                     height,
                     false,
                     out_.row(place.y0) + place.x0,
                     1,
                     stride};
    if (is_transposed_) std::swap(tile.width, tile.height), std::swap(tile.dx, tile.dy);
    const TileBox all = samples_of(place, job_.mask());
    const TileBox valid = present(all, in_.width, in_.height, job_);
    tile.is_clipped = valid != all;
    if (tile.is_clipped) std::fill_n(codes, n, static_cast<Code>(window_.absent));
    if constexpr (kSorts) {
      copy(samples, valid, all);
    } else {
      copy(codes, valid, all);
    }
    if (frequent_.runs() > 0 &&
        find_frequent(tile, pitch_, box_of(valid, all), frequent_, arrays[4]))
      return;
    if constexpr (kSorts) {
      const auto order = reinterpret_cast<std::uint32_t *>(arrays[3]);
      tile.n_codes = is_mode() ? number(samples, codes, values,
                                        reinterpret_cast<std::uint16_t *>(arrays[3]), valid, all)
                               : sort(samples, codes, values, order, valid, all);
      if (has_rows())
        return job_.mask().rectangle ? slide_rows(tile, window_) : slide_crosses(tile, window_);
    }
    rank_loops<T>().slide(tile, window_, job_);
  }

 private:
  bool is_mode() const { return job_.op == SwoFilterOperator::mode; }
  /// Whether the windows of all rows of a tile slide together.
  bool has_rows() const {
    const Mask &mask = job_.mask();
    return kSorts && is_mode() && (mask.rectangle || mask.is_cross());
  }

  /// Whether modes are looked for among frequent values first. Histograms of bytes are as fast
  /// unless rows have several runs.
  bool is_frequent() const {
    const Mask &mask = job_.mask();
    const std::size_t rows = kSorts ? 0 : 2 * (2 * ry_ + 1);
    return is_mode() && !has_rows() && window_.runs.size() >= std::max(kFrequentRuns, rows) &&
           4 * mask.count() >= mask.width * mask.height;
  }
  /// The samples that there are, from the first pixel's on.
  TileBox box_of(const TileBox &valid, const TileBox &all) const {
    TileBox box{valid.x0 - all.x0, valid.x1 - all.x0, valid.y0 - all.y0, valid.y1 - all.y0};
    if (is_transposed_) box = {box.y0, box.y1, box.x0, box.x1};
    return {box.x0 - rx_, box.x1 - rx_, box.y0 - ry_, box.y1 - ry_};
  }

  /// Codes, samples, values, the order after the first pass of sorting or the codes of values,
  /// and the histogram.
  template <typename Visit>
  void for_arrays(const Visit &visit, std::size_t n) const {
    visit(n * sizeof(Code));
    visit(kSorts ? n * sizeof(T) : 0);
    visit(!kSorts ? 0 : (is_mode() ? 65536 : n + 64) * sizeof(T));
    visit(!kSorts ? 0 : is_mode() ? 65536 * sizeof(T) : n * sizeof(std::uint32_t));
    const std::size_t codes = window_.absent + 64;
    const std::size_t frequent = frequent_.runs() > 0 ? FrequentMemory::bytes(n) : 0;
    visit(!kSorts      ? frequent
          : has_rows() ? (codes + codes / 32) * sizeof(T) * mode_rows()
          : is_mode()  ? std::max<std::size_t>(3 * 65536, frequent)
                       : n / 8 + 2 * kTileLine);
  }

  /// Calls visit(offset in the tile, length, distance of samples) for rows of the image's samples.
  template <typename Visit>
  void for_rows(const TileBox &valid, const TileBox &all, const Visit &visit) const {
    const int width = valid.x1 - valid.x0, height = valid.y1 - valid.y0;
    const int left = valid.x0 - all.x0, top = valid.y0 - all.y0;
    if (is_transposed_) {
      for (int i = 0; i < width; ++i) visit(std::ptrdiff_t(left + i) * pitch_ + top, height);
    } else {
      for (int i = 0; i < height; ++i) visit(std::ptrdiff_t(top + i) * pitch_ + left, width);
    }
  }

  template <typename To>
  void copy(To *to, const TileBox &valid, const TileBox &all) const {
    const std::ptrdiff_t dx = is_transposed_ ? pitch_ : 1, dy = is_transposed_ ? 1 : pitch_;
    copy_samples(in_, job_, valid, to + (valid.x0 - all.x0) * dx + (valid.y0 - all.y0) * dy, dx,
                 dy);
  }

  /// Codes are places in the sorted tile. Sorts by the lower byte, then by the upper one.
  int sort(const T *samples, Code *codes, T *values, std::uint32_t *order, const TileBox &valid,
           const TileBox &all) const {
    DigitPlaces next;
    for_rows(valid, all, [&](std::ptrdiff_t at, int n) {
      for (int i = 0; i < n; ++i) next.count(samples[at + i]);
    });
    next.begin();
    for_rows(valid, all, [&](std::ptrdiff_t at, int n) {
      for (int i = 0; i < n; ++i)
        order[next.lower[samples[at + i] & 255]++] = static_cast<std::uint32_t>(at + i);
    });
    const int total = valid.width() * valid.height();
    for (int i = 0; i < total; ++i) {
      const T sample = samples[order[i]];
      const std::uint32_t code = next.upper[sample >> 8]++;
      codes[order[i]] = static_cast<Code>(code);
      values[code] = sample;
    }
    return total;
  }

  /// Codes are the numbers of the values that occur.
  /// @param code_of  memory for the codes of all values
  int number(const T *samples, Code *codes, T *values, std::uint16_t *code_of, const TileBox &valid,
             const TileBox &all) const {
    std::uint64_t occurs[1024]{};
    for_rows(valid, all, [&](std::ptrdiff_t at, int n) {
      for (int i = 0; i < n; ++i)
        occurs[samples[at + i] / 64] |= std::uint64_t{1} << samples[at + i] % 64;
    });
    int total = 0;
    for (unsigned i = 0; i < 1024; ++i)
      for (std::uint64_t rest = occurs[i]; rest; rest &= rest - 1) {
        const unsigned value = 64 * i + static_cast<unsigned>(std::countr_zero(rest));
        values[total] = static_cast<T>(value);
        code_of[value] = static_cast<std::uint16_t>(total++);
      }
    for_rows(valid, all, [&](std::ptrdiff_t at, int n) {
      for (int i = 0; i < n; ++i) codes[at + i] = code_of[samples[at + i]];
    });
    return total;
  }

  const Plane<const T> in_;
  const Plane<T> out_;
  const FilterJob &job_;
  SlidingWindow window_;
  FrequentWindow frequent_;
  bool is_transposed_;
  int rx_, ry_, most_along_, most_across_, columns_, rows_, pitch_;
};

}  // namespace

template <typename T>
void ask_tiles(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job, int x0, int x1,
               int y0, int y1) {
  if (x0 >= x1 || y0 >= y1) return;
  const TileWorker<T> worker(in, out, job, x1 - x0, y1 - y0);
  for_tiles(cpu, {x0, x1, y0, y1}, worker.along(), worker.across(), worker.bytes(),
            [&](const TileBox &pixels, unsigned char *memory) { worker.run(pixels, memory); });
}
template void ask_tiles(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                        int, int, int, int);
template void ask_tiles(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &,
                        int, int, int, int);

}  // namespace cudascan::swo
