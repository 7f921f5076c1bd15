// SPDX-License-Identifier: LGPL-2.1-or-later
// Reconstruction until nothing changes: the image is divided into bands of rows, one for each
// thread. A band is scanned down and up; each row grows along itself. Pixels that could still grow
// are put into a queue sorted by marker, so that a pixel seldom grows twice (after Vincent, and
// Robinson and Whelan, "Efficient morphological reconstruction: a downhill filter", Pattern
// Recognition Letters 25, 2004). Then neighbouring bands exchange their edges, and bands that grow
// process their queues, in turns.
#include "kernels/swofilter/geodesic/geodesic.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kernels/swofilter/geodesic/growth.h"
#include "kernels/swofilter/geodesic/rows.h"

namespace cudascan::swo {
namespace {

constexpr int kMinRows = 64;  // of a band; fewer do not justify a thread

/// Samples with a row of zeros above and below, and at least one zero at both ends of each row.
template <typename T>
class Padded {
 public:
  static std::size_t samples(int width, int height) {
    return pitch_of(width) * (height + 2) + kBefore;
  }
  Padded(T *memory, int width, int height)
      : pitch_(pitch_of(width)), first_(memory + pitch_ + kBefore) {
    for (int y = -1; y <= height; ++y) {
      row(y)[-1] = row(y)[width] = 0;
      if (y < 0 || y == height) std::fill_n(row(y), width, T{0});
    }
  }
  T *row(int y) const { return first_ + y * pitch_; }
  T *data() const { return first_; }
  std::ptrdiff_t pitch() const { return pitch_; }

 private:
  static constexpr std::size_t kBefore = 64 / sizeof(T);
  static std::ptrdiff_t pitch_of(int width) {
    return static_cast<std::ptrdiff_t>((width + kBefore) / kBefore * kBefore);
  }
  std::ptrdiff_t pitch_;
  T *first_;
};

/// Pixels sorted by their markers. Markers of 16 bits are sorted by their upper bytes, and by their
/// lower ones when it is the turn of their upper byte.
template <typename T>
class MarkerQueue {
 public:
  /// While pixels are worked off, the marker is not higher than that of the pixel at hand.
  void push(std::ptrdiff_t pixel, T marker) {
    const int upper = upper_byte(marker);
    auto &bucket = upper == current_ ? of_current_[marker & 0xff] : buckets_[upper];
    bucket.push_back(static_cast<std::int32_t>(pixel));
    highest_ = std::max(highest_, upper);
  }
  bool empty() const { return highest_ < 0; }
  /// Calls f(pixel) for a pixel with the highest marker, until there is none.
  template <typename F>
  void work_off(const T *marker, const F &f) {
    for (; highest_ >= 0; --highest_) {
      // A pixel that has grown since it came was also put into a higher bucket.
      if constexpr (sizeof(T) == 1) {
        empty_bucket(buckets_[highest_], [&](std::int32_t pixel) {
          if (marker[pixel] == highest_) f(pixel);
        });
      } else {
        current_ = highest_;
        empty_bucket(buckets_[highest_], [&](std::int32_t pixel) {
          if (upper_byte(marker[pixel]) == highest_) push(pixel, marker[pixel]);
        });
        for (int lower = kBuckets - 1; lower >= 0; --lower)
          empty_bucket(of_current_[lower], [&](std::int32_t pixel) {
            if (marker[pixel] == (highest_ << 8 | lower)) f(pixel);
          });
        current_ = -1;
      }
    }
  }

 private:
  static constexpr int kBuckets = 256;
  using Bucket = std::vector<std::int32_t>;

  static int upper_byte(T marker) { return marker >> (8 * sizeof(T) - 8); }
  /// Calls f(pixel) for all pixels of a bucket, also for those that come meanwhile.
  template <typename F>
  static void empty_bucket(Bucket &bucket, const F &f) {
    while (!bucket.empty()) {
      const std::int32_t pixel = bucket.back();
      bucket.pop_back();
      f(pixel);
    }
  }

  Bucket buckets_[kBuckets], of_current_[sizeof(T) == 1 ? 1 : kBuckets];
  int highest_ = -1, current_ = -1;  ///< upper bytes; current_ is sorted by lower bytes
};

/// The rows of a thread.
template <typename T>
class Band {
 public:
  Band(Plane<const T> in, const Growth &growth, int begin, int end, T *memory)
      : in_(in),
        growth_(growth),
        begin_(begin),
        height_(end - begin),
        mask_(memory, in.width, height_),
        marker_(memory + Padded<T>::samples(in.width, height_), in.width, height_) {}
  static std::size_t samples(int width, int height) {
    return 2 * Padded<T>::samples(width, height);
  }

  /// Grows the marker as if there were no other bands.
  void grow_alone() {
    prepare();
    scan();
    fill_queue();
    grow();
  }
  /// Exchanges edges with the band above; then both must grow(). Do not call it while either grows.
  void meet(Band &above) {
    meet_row(above.marker_.row(above.height_ - 1), 0);
    above.meet_row(marker_.row(0), above.height_ - 1);
  }
  bool grows() const { return !queue_.empty(); }
  void grow() {
    T *const marker = marker_.data();
    const T *const mask = mask_.data();
    const std::ptrdiff_t pitch = marker_.pitch();
    const std::ptrdiff_t neighbours[] = {-1,         1,          -pitch,    pitch,
                                         -pitch - 1, -pitch + 1, pitch - 1, pitch + 1};
    const int n = growth_.eight ? 8 : 4;
    queue_.work_off(marker, [&](std::ptrdiff_t p) {
      const T v = marker[p];
      for (int i = 0; i < n; ++i) {
        const std::ptrdiff_t q = p + neighbours[i];
        const T grown = std::min(mask[q], v);
        if (grown <= marker[q]) continue;
        marker[q] = grown;
        queue_.push(q, grown);
      }
    });
  }

  void write(Plane<T> out) const {
    const Growth growth = growth_;
    for (int y = 0; y < height_; ++y) {
      const T *const mask = mask_.row(y), *const marker = marker_.row(y);
      T *const to = out.row(begin_ + y);
      for (int x = 0; x < out.width; ++x) to[x] = growth.result(mask[x], marker[x]);
    }
  }

 private:
  void prepare() {
    const Growth growth = growth_;
    for (int y = 0; y < height_; ++y) {
      const T *const from = in_.row(begin_ + y);
      T *const mask = mask_.row(y), *const marker = marker_.row(y);
      const int last = in_.width - 1;
      const bool edge = begin_ + y == 0 || begin_ + y == in_.height - 1;
      for (int x = 0; x <= last; ++x) {
        mask[x] = growth.mask(from[x]);
        marker[x] = growth.marker(mask[x], edge);
      }
      marker[0] = growth.marker(mask[0], true);
      marker[last] = growth.marker(mask[last], true);
    }
  }
  void scan() {
    const int n = in_.width;
    for (int y = 0; y < height_; ++y) {
      rows_.meet(marker_.row(y - 1), mask_.row(y), marker_.row(y), n, growth_.eight);
      rows_.walk(mask_.row(y), marker_.row(y), n);
    }
    for (int y = height_; y-- > 0;) {
      rows_.meet(marker_.row(y + 1), mask_.row(y), marker_.row(y), n, growth_.eight);
      rows_.walk(mask_.row(y), marker_.row(y), n);
    }
  }
  /// Compares all pixels with their neighbours and queues those that grow.
  void fill_queue() {
    for (int y = 0; y < height_; ++y) {
      const RowsAround<T> r{marker_.row(y - 1), marker_.row(y), marker_.row(y + 1), mask_.row(y),
                            in_.width};
      T *const marker = marker_.row(y);
      for (int x = 0; (x = rows_.find(r, x, growth_.eight)) < r.n;)
        for (const int end = std::min(x + 64, r.n); x < end; ++x) {
          T v = std::max({r.above[x], r.below[x], marker[x - 1], marker[x + 1]});
          if (growth_.eight)
            v = std::max({v, r.above[x - 1], r.above[x + 1], r.below[x - 1], r.below[x + 1]});
          raise(y, x, v);
        }
    }
  }
  void meet_row(const T *other, int y) {
    for (int x = 0; x < in_.width; ++x)
      raise(y, x, growth_.eight ? std::max({other[x - 1], other[x], other[x + 1]}) : other[x]);
  }
  void raise(int y, int x, T neighbour) {
    T &marker = marker_.row(y)[x];
    const T grown = std::min(mask_.row(y)[x], neighbour);
    if (grown <= marker) return;
    marker = grown;
    queue_.push(&marker - marker_.data(), grown);
  }

  Plane<const T> in_;
  const Growth &growth_;
  int begin_, height_;
  Padded<T> mask_, marker_;
  MarkerQueue<T> queue_;
  const GeodesicRows<T> &rows_ = geodesic_rows<T>();
};

template <typename T>
void reconstruct(Cpu &cpu, Plane<const T> in, Plane<T> out, const Growth &growth) {
  const int n = std::clamp(in.height / kMinRows, 1, cpu.threads());
  const auto begin_of = [&](int i) { return static_cast<int>(std::int64_t{in.height} * i / n); };
  std::size_t samples = 0;
  for (int i = 0; i < n; ++i) samples += Band<T>::samples(in.width, begin_of(i + 1) - begin_of(i));
  auto *memory = static_cast<T *>(cpu.scratch(samples * sizeof(T)));
  std::vector<Band<T>> bands;
  for (int i = 0; i < n; ++i) {
    bands.emplace_back(in, growth, begin_of(i), begin_of(i + 1), memory);
    memory += Band<T>::samples(in.width, begin_of(i + 1) - begin_of(i));
  }
  const auto for_each = [&](const auto &f) {
    cpu.for_bands(n, 1, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) f(bands[i]);
    });
  };
  for_each([](Band<T> &band) { band.grow_alone(); });
  for (bool grows = n > 1; grows;) {
    for (int i = 1; i < n; ++i) bands[i].meet(bands[i - 1]);
    grows = std::any_of(bands.begin(), bands.end(), [](const Band<T> &b) { return b.grows(); });
    if (grows) for_each([](Band<T> &band) { band.grow(); });
  }
  for_each([&](const Band<T> &band) { band.write(out); });
}

/// Returns the number of passes.
template <typename T>
int make_passes(Cpu &cpu, Plane<const T> in, Plane<T> out, const Growth &growth) {
  const int width = in.width, height = in.height;
  const std::size_t samples = Padded<T>::samples(width, height);
  auto *const memory = static_cast<T *>(cpu.scratch(3 * samples * sizeof(T)));
  const Padded<T> mask(memory, width, height);
  Padded<T> from(memory + samples, width, height), to(memory + 2 * samples, width, height);
  const auto for_rows = [&](const auto &f) {
    cpu.for_bands(height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) f(y);
    });
  };
  for_rows([&](int y) {
    const bool edge = y == 0 || y == height - 1;
    for (int x = 0; x < width; ++x) {
      mask.row(y)[x] = growth.mask(in.row(y)[x]);
      from.row(y)[x] = growth.marker(mask.row(y)[x], edge || x == 0 || x == width - 1);
    }
  });
  const GeodesicRows<T> &rows = geodesic_rows<T>();
  int passes = 0;
  for (std::atomic<bool> change{true}; change && passes < growth.iterations; ++passes) {
    change = false;
    for_rows([&](int y) {
      const RowsAround<T> r{from.row(y - 1), from.row(y), from.row(y + 1), mask.row(y), width};
      if (rows.pass(r, to.row(y), growth.eight)) change = true;
    });
    std::swap(from, to);
  }
  for_rows([&](int y) {
    for (int x = 0; x < width; ++x) out.row(y)[x] = growth.result(mask.row(y)[x], from.row(y)[x]);
  });
  return passes;
}

}  // namespace

template <typename T>
void geodesic(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job,
              SwoFilterReport *report) {
  const Growth growth(job);
  if (growth.iterations == 0) return reconstruct(cpu, in, out, growth);
  const int passes = make_passes(cpu, in, out, growth);
  if (report) report->iterations = passes;
}
template void geodesic(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &,
                       SwoFilterReport *);
template void geodesic(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &,
                       SwoFilterReport *);

}  // namespace cudascan::swo
