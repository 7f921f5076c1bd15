// SPDX-License-Identifier: LGPL-2.1-or-later
// Openings with the same long segment at every pixel, by parts that cover it (cover.h).
//
// The plane is cut into strips, whose rows are shifted as the lines are. So segments around the
// pixels of a strip hardly leave it: each strip is opened on its own, and its data stays in the
// cache.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels/linearopen/cover.h"
#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"

namespace cudascan::linearopen {
namespace {

/// Columns of a strip, relative to its first one in each row.
struct Columns {
  int begin, end;

  void include(const Columns &other) {
    begin = std::min(begin, other.begin);
    end = std::max(end, other.end);
  }
};

/// How far the rows of strips are moved, as lines are.
class Skew {
 public:
  explicit Skew(const lines::Direction &direction)
      : slope_(direction.rising ? direction.slope : -direction.slope) {}

  /// From row 0 to row y.
  int shift(int y) const { return static_cast<int>(std::int64_t{y} * slope_ >> kBits); }
  /// What shift(y) leaves, in units of 2^-kBits.
  int fraction(int y) const {
    return static_cast<int>(std::int64_t{y} * slope_ & ((1 << kBits) - 1));
  }

  static constexpr int kBits = lines::Direction::kFraction;

 private:
  const int slope_;
};

/// Places in memory, relative to a pixel.
class Places {
 public:
  /// @param stride  of the rows of a strip
  Places(std::vector<SegmentPlace> places, const Skew &skew, std::ptrdiff_t stride) {
    std::sort(places.begin(), places.end(),
              [](const SegmentPlace &a, const SegmentPlace &b) { return a.y < b.y; });
    for (const SegmentPlace &p : places) {
      rows_.push_back(p.y);
      fractions_.push_back(skew.fraction(p.y));
      offsets_.push_back(p.y * stride + p.x - skew.shift(p.y));
    }
  }

  /// The columns of a strip that parts at these places need for those given.
  static Columns needed(const std::vector<SegmentPlace> &places, const Skew &skew,
                        const Columns &columns) {
    Columns all{std::numeric_limits<int>::max(), std::numeric_limits<int>::min()};
    for (const SegmentPlace &p : places) {
      // Over p.y rows, strips move by shift(p.y) columns or by one more.
      const int x = p.x - skew.shift(p.y);
      all.include({columns.begin + x - 1, columns.end + x});
    }
    return all;
  }

  /// Writes where the places around a pixel of row y are that are in rows [begin, end).
  /// @param fraction  of y
  template <typename T>
  const T **find(const T *pixel, int y, int fraction, int begin, int end, const T **to) const {
    std::size_t first = 0, last = rows_.size();
    while (first < last && y + rows_[first] < begin) ++first;
    while (first < last && y + rows_[last - 1] >= end) --last;
    for (std::size_t i = first; i < last; ++i)
      to[i - first] = pixel + (offsets_[i] - ((fraction + fractions_[i]) >> Skew::kBits));
    return to + (last - first);
  }

 private:
  std::vector<int> rows_, fractions_;  ///< the uppermost first
  std::vector<std::ptrdiff_t> offsets_;
};

/// What is the same for all strips of a plane.
template <typename T>
struct StripJob {
  Plane<const T> in;
  T flip;
  const Sink<T> &sink;
  const Skew skew;
  Columns all{0, 0};       ///< of rows in memory: the strip's and those needed around it
  int width = 0;           ///< of strips
  std::ptrdiff_t stride;   ///< of rows in memory, in samples
  std::vector<int> above;  ///< rows of each level above those of the strip
  std::vector<Places> made_of, eroded, dilated;
  std::size_t most = 0;  ///< places around a pixel

  /// @param columns  that strips have at least
  StripJob(Plane<const T> plane, T flip_all, const lines::Direction &direction,
           const SegmentCover &cover, const Sink<T> &results, int columns)
      : in(plane), flip(flip_all), sink(results), skew(direction) {
    const SegmentCover turned = cover.turned();
    include_needed(cover, include_needed(turned, {0, 0}));
    margin_ = round_up(all.end - all.begin, kLine<T>);
    // Whole vectors, so that those computed are aligned.
    const int n = round_up(columns + all.end - all.begin, 2 * kLine<T>);
    width = n - (all.end - all.begin);
    all.end += width;
    stride = (n / kLine<T> | 1) * kLine<T>;
    for (std::size_t i = 0; i < cover.levels.size(); ++i) {
      const SegmentLevel &level = cover.levels[i];
      above.push_back(level.y);
      made_of.emplace_back(level.made_of, skew, stride);
      eroded.emplace_back(level.places, skew, stride);
      dilated.emplace_back(turned.levels[i].places, skew, stride);
      most += std::max(level.made_of.size(), level.places.size());
    }
  }

  /// Samples of memory for the levels of a strip, its erosion and a row of results.
  std::size_t memory() const {
    std::size_t n_rows = in.height + 1;
    for (const int rows : above) n_rows += in.height + rows;
    return n_rows * stride + 2 * margin_;
  }
  /// Where the first row begins.
  T *first_row(T *memory) const { return memory + margin_ - all.begin; }

 private:
  static int round_up(int n, int step) { return (n + step - 1) / step * step; }

  /// Returns the columns of the first level that results in these columns need.
  Columns include_needed(const SegmentCover &cover, const Columns &results) {
    Columns of_longer{}, columns{};
    for (std::size_t i = cover.levels.size(); i-- > 0;) {
      columns = Places::needed(cover.levels[i].places, skew, results);
      if (i + 1 < cover.levels.size())
        columns.include(Places::needed(cover.levels[i + 1].made_of, skew, of_longer));
      all.include(columns);
      of_longer = columns;
    }
    return columns;
  }

  int margin_;  ///< that may be read on both sides of the memory, without being needed
};

template <typename T>
class Strip {
 public:
  /// @param left  its first column in row 0
  Strip(const StripJob<T> &job, int left) : job_(job), left_(left), sources_(job.most) {
    const auto outside = [&](int y) {
      return first(y) + job.all.end <= 0 || first(y) + job.all.begin >= job.in.width;
    };
    begin_ = 0, end_ = job.in.height;
    while (begin_ < end_ && outside(begin_)) ++begin_;
    while (begin_ < end_ && outside(end_ - 1)) --end_;
  }

  int height() const { return end_ - begin_; }

  /// @param memory  job.memory()
  /// @return the sum of the openings, if the sink wants it
  std::int64_t open(T *memory) {
    if (height() == 0) return 0;
    T *next = job_.first_row(memory);
    const auto take = [&](int above) {
      T *const rows = next;
      next += (height() + above) * job_.stride;
      return Part{rows, begin_ - above};
    };
    for (const int above : job_.above) parts_.push_back(take(above));
    eroded_ = take(0);
    fill<false>([&](int y) { read(y); });
    for (int y = begin_; y < end_; ++y) {
      segments<false>(job_.eroded, y, job_.all, at(eroded_, y));
      clear_outside(y, T{0}, at(eroded_, y));
    }
    parts_[0] = eroded_;
    fill<true>([](int) {});
    std::int64_t sum = 0;
    for (int y = begin_; y < end_; ++y) {
      const Columns inside{std::max(0, -first(y)), std::min(job_.width, job_.in.width - first(y))};
      if (inside.begin >= inside.end) continue;
      const int soon = std::min(y + kAhead, end_ - 1);
      prefetch(job_.sink.best.row(soon), first(soon), first(soon) + job_.width);
      segments<true>(job_.dilated, y, inside, next);
      sum += give(job_.sink, job_.flip, next + inside.begin, inside.end - inside.begin,
                  first(y) + inside.begin, y);
    }
    return sum;
  }

 private:
  static constexpr int kAhead = 6;

  /// The extrema of the parts of a level.
  struct Part {
    T *rows;
    int begin;  ///< the first row
  };

  int first(int y) const { return left_ + job_.skew.shift(y); }
  T *at(const Part &part, int y) const { return part.rows + (y - part.begin) * job_.stride; }

  /// Reads samples.
  void read(int y) {
    const Columns &columns = job_.all;
    const int begin = std::max(columns.begin, -first(y)),
              end = std::min(columns.end, job_.in.width - first(y));
    // Rows are too far apart for the processor to foresee them.
    const int soon = std::min(y + kAhead, end_ - 1);
    prefetch(job_.in.row(soon), first(soon) + columns.begin, first(soon) + columns.end);
    T *const to = at(parts_[0], y);
    if (begin < end)
      rows<T>().order(job_.in.row(y) + first(y) + begin, end - begin, job_.flip, to + begin);
    clear_outside(y, static_cast<T>(~T{0}), to);
  }
  void prefetch(const T *row, int begin, int end) const {
    for (int x = std::max(begin, 0); x < std::min(end, job_.in.width); x += kLine<T>)
      __builtin_prefetch(row + x);
  }
  /// Makes samples outside the plane neutral.
  void clear_outside(int y, T value, T *row) const {
    const Columns &columns = job_.all;
    const int begin = std::clamp(-first(y), columns.begin, columns.end),
              end = std::clamp(job_.in.width - first(y), begin, columns.end);
    std::fill(row + columns.begin, row + begin, value);
    std::fill(row + end, row + columns.end, value);
  }

  /// All levels. Row by row, so that those needed are in the cache.
  template <bool kLargest, typename Read>
  void fill(const Read &read) {
    for (int last = begin_; last < end_ + job_.above.back(); ++last) {
      if (last < end_) read(last);
      for (std::size_t i = 1; i < parts_.size(); ++i) {
        const int y = last - job_.above[i];
        if (y >= end_) continue;
        const T **const end =
            add(parts_[i - 1], job_.made_of[i], y, job_.all.begin, sources_.data());
        extrema<kLargest>(end, job_.all, at(parts_[i], y));
      }
    }
  }
  /// The extrema over segments around the pixels of a row.
  template <bool kLargest>
  void segments(const std::vector<Places> &places, int y, const Columns &columns, T *out) {
    const T **end = sources_.data();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      end = add(parts_[i], places[i], y, columns.begin, end);
    extrema<kLargest>(end, columns, out);
  }

  const T **add(const Part &part, const Places &places, int y, int x, const T **to) const {
    return places.find<T>(at(part, y) + x, y, job_.skew.fraction(y), part.begin, end_, to);
  }
  /// @param end  of the sources
  template <bool kLargest>
  void extrema(const T **end, const Columns &columns, T *out) {
    const auto count = static_cast<int>(end - sources_.data());
    const int n = columns.end - columns.begin;
    if (count == 0)
      std::fill_n(out + columns.begin, n, kLargest ? T{0} : static_cast<T>(~T{0}));
    else
      (kLargest ? rows<T>().largest : rows<T>().smallest)(sources_.data(), count, n,
                                                          out + columns.begin);
  }

  const StripJob<T> &job_;
  int left_;
  int begin_, end_;  ///< rows that are partly in the plane
  std::vector<Part> parts_;
  Part eroded_;
  std::vector<const T *> sources_;
};

}  // namespace

template <typename T>
std::int64_t open_in_strips(Cpu &cpu, Plane<const T> in, T flip, const lines::Direction &direction,
                            const SegmentCover &cover, const Sink<T> &sink) {
  const int moved = Skew(direction).shift(in.height - 1), columns = in.width + std::abs(moved);
  // As many for each thread, which have about as many pixels in the plane.
  constexpr int kLeast = 256 / sizeof(T), kMost = 1024 / sizeof(T), kMinRows = 64;
  const auto parts = [&](int width) { return (columns + width - 1) / width; };
  const int threads = std::min(cpu.threads(), parts(kLeast)),
            wanted = (parts(kMost) + threads - 1) / threads * threads;
  const StripJob<T> job(in, flip, direction, cover, sink, parts(wanted));
  const int width = job.width, n_strips = parts(width);
  const int left = std::min(0, -moved) - (n_strips * width - columns) / 2;
  std::vector<Strip<T>> strips;
  std::vector<int> rows{0};  // of earlier strips
  for (int i = 0; i < n_strips; ++i) {
    strips.emplace_back(job, left + i * width);
    rows.push_back(rows.back() + strips.back().height());
  }
  std::atomic<std::int64_t> sum = 0;
  cpu.for_bands(rows.back(), kMinRows, [&](int begin, int end) {
    T *const memory = thread_memory<T>(job.memory());
    for (std::size_t i = 0; i < strips.size(); ++i) {
      const int middle = (rows[i] + rows[i + 1]) / 2;
      if (middle >= begin && middle < end) sum += strips[i].open(memory);
    }
  });
  return sum;
}

#define INSTANTIATE(T)                                                                     \
  template std::int64_t open_in_strips(Cpu &, Plane<const T>, T, const lines::Direction &, \
                                       const SegmentCover &, const Sink<T> &)
INSTANTIATE(std::uint8_t);
INSTANTIATE(std::uint16_t);
INSTANTIATE(std::uint32_t);

}  // namespace cudascan::linearopen
