// SPDX-License-Identifier: LGPL-2.1-or-later
// Small windows are sorted by networks if that is faster than histograms. Networks need complete
// windows; pixels with clipped windows are processed by histograms, which support any window.
// Answers of large rectangles and ellipses are followed from pixel to pixel. Windows with many runs
// are asked for squares of pixels.
#include "kernels/swofilter/rank/rank.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/swofilter/rank/lines.h"
#include "kernels/swofilter/rank/network.h"
#include "kernels/swofilter/rank/places.h"
#include "kernels/swofilter/rank/rows.h"
#include "kernels/swofilter/rank/squares.h"

namespace cudascan::swo {
namespace {

constexpr int kMinRows = 32;  // fewer rows do not justify a thread

/// The image with a margin as wide as windows need.
template <typename T>
Plane<const T> pad(Cpu &cpu, Plane<const T> in, const FilterJob &job) {
  const int rx = job.mask().rx(), ry = job.mask().ry();
  const int width = in.width + 2 * rx, height = in.height + 2 * ry;
  const auto samples = static_cast<T *>(cpu.scratch(std::size_t(width) * height * sizeof(T)));
  const Plane<T> padded{samples, width, height, std::ptrdiff_t(width) * std::ptrdiff_t(sizeof(T)),
                        in.maximum};
  const auto outside_sample = static_cast<T>(job.outside);
  cpu.for_bands(height, kMinRows, [&](int begin, int end) {
    for (int y = begin; y < end; ++y) {
      T *const to = padded.row(y);
      const int row = resolve(y - ry, in.height, job.border);
      if (row < 0) {
        std::fill_n(to, width, outside_sample);
        continue;
      }
      const T *const from = in.row(row);
      std::copy_n(from, in.width, to + rx);
      const auto outside = [&](int x) {
        const int column = resolve(x, in.width, job.border);
        to[rx + x] = column < 0 ? outside_sample : from[column];
      };
      for (int x = -rx; x < 0; ++x) outside(x);
      for (int x = in.width; x < in.width + rx; ++x) outside(x);
    }
  });
  return padded;
}

/// Runs rows of an image through a network. Windows are complete.
template <typename T>
class NetworkRows {
 public:
  NetworkRows(Plane<const T> in, Plane<T> out, const FilterJob &job, const Network &network)
      : in_(in), out_(out), job_(job), network_(network) {
    // As long as the rows fit into the fastest cache, but not so short that overhead dominates. All
    // lengths are multiples of vectors. Samples computed beyond the results are rounded up, and so
    // are the samples read.
    const int beside = 2 * round_up(network.width - 1);
    const int room = 32768 / int(sizeof(T)) / network.rows / kVector * kVector - beside;
    // Medians of 3x3 have no intermediate rows and read rows directly from memory.
    length_ = is_median3_ ? 128 * kVector : std::clamp(room, 4 * kVector, 32 * kVector);
    row_ = length_ + beside;
    const int rows = is_median3_ ? network.inputs : network.rows;
    memory_.resize(std::size_t(rows + 1) * (row_ + kVector) + kVector);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    T *next = memory_.data() + (-address % kNetworkVector) / sizeof(T);
    for (int i = 0; i < rows; ++i, next += row_) rows_.push_back(next);
    result_ = next;
    inputs_ = rows_;
  }

  /// Pixels [x0, x1) of rows [y0, y1).
  void run(int x0, int x1, int y0, int y1) {
    const int group = static_cast<int>(network_.outputs.size());
    for (int y = y0; y < y1; y += group)
      for (int x = x0; x < x1;) {
        const int n = std::min(next_length(x), x1 - x);
        run_group(x, n, y, std::min(group, y1 - y));
        x += n;
      }
  }

 private:
  static constexpr int kVector = kNetworkVector / static_cast<int>(sizeof(T));
  static int round_up(int n) { return (n + kVector - 1) / kVector * kVector; }

  /// Rows that extend beyond the image are copied. For fast operators, copying must be fast, too.
  int next_length(int x) const {
    constexpr std::size_t kFewSteps = 64;
    if (network_.steps.size() > kFewSteps) return length_;
    const int left = x - job_.mask().rx();
    const int inside = (in_.width - left - (row_ - length_)) / kVector * kVector;
    return left < 0 || inside <= 0 ? kVector : std::min(length_, inside);
  }

  void run_group(int x, int n, int y, int outputs) {
    const int left = x - job_.mask().rx(), top = y - job_.mask().ry();
    const int length = round_up(n), needed = length + row_ - length_;
    for (int i = 0; i < network_.inputs; ++i) rows_[i] = input(i, left, top + i, needed);
    if (is_median3_) {
      for (int i = 0; i < outputs; ++i) {
        T *const out = out_.row(y + i) + x, *const to = n == length ? out : result_;
        loops_.median3(&rows_[i], to, length);
        if (to != out) std::memcpy(out, to, n * sizeof(T));
      }
      return;
    }
    const Network::Step *next = network_.steps.data();
    for (int i = 0; i < outputs; ++i) {
      const Network::Output &out = network_.outputs[i];
      const Network::Step *const end = network_.steps.data() + out.steps;
      loops_.steps(next, end - next, rows_.data(), length);
      next = end;
      std::memcpy(out_.row(y + i) + x, result(out, length), n * sizeof(T));
    }
  }

  /// n samples of a row of the image from x = `left` on, including samples outside; results from
  /// missing samples are not used.
  T *input(int i, int left, int y, int n) {
    const int row = resolve(y, in_.height, job_.border);
    // Rows of the image are only read.
    if (row >= 0 && left >= 0 && left + n <= in_.width) return const_cast<T *>(in_.row(row)) + left;
    T *const to = inputs_[i];
    if (row < 0) {
      std::fill_n(to, n, static_cast<T>(job_.outside));
      return to;
    }
    const T *const from = in_.row(row);
    const int begin = std::clamp(-left, 0, n), end = std::clamp(in_.width - left, begin, n);
    std::copy(from + left + begin, from + left + end, to + begin);
    const int needed = std::min(n, in_.width + job_.mask().rx() - left);
    const auto outside = [&](int k) {
      const int column = resolve(left + k, in_.width, job_.border);
      to[k] = column < 0 ? static_cast<T>(job_.outside) : from[column];
    };
    for (int k = 0; k < begin; ++k) outside(k);
    for (int k = end; k < needed; ++k) outside(k);
    return to;
  }

  const T *result(const Network::Output &out, int length) {
    const auto pointers = [&](const std::vector<Network::Place> &places,
                              std::vector<const T *> &to) {
      to.clear();
      for (const Network::Place place : places) to.push_back(rows_[place.row] + place.shift);
    };
    pointers(out.plus, plus_);
    const int n = static_cast<int>(plus_.size());
    switch (network_.question.kind) {
      case Question::mean:
        pointers(out.minus, minus_);
        loops_.mean(plus_.data(), n, minus_.data(), static_cast<int>(minus_.size()),
                    n - static_cast<int>(minus_.size()), job_.shift, result_, length);
        return result_;
      case Question::mode:
        loops_.mode(plus_.data(), n, result_, length);
        return result_;
      default:
        return plus_[0];
    }
  }

  const Plane<const T> in_;
  const Plane<T> out_;
  const FilterJob &job_;
  const Network &network_;
  const RankLoops<T> &loops_ = rank_loops<T>();
  const bool is_median3_ = job_.mask().rectangle && job_.mask().width == 3 &&
                           job_.mask().height == 3 &&
                           network_.question == Question{Question::nth, 4, 4};
  int row_, length_;  ///< samples of a row in memory, and how many of them are results
  std::vector<T> memory_;
  std::vector<T *> rows_, inputs_;
  T *result_;
  std::vector<const T *> plus_, minus_;
};

/// Minima and maxima per sample that take as long as histograms need for a pixel.
template <typename T>
constexpr int kMostCost = sizeof(T) == 1 ? 800 : 3000;
constexpr int kMostModeCost = 1500;  ///< the same for modes of rectangles of 16 bits
constexpr int kMostCells = 225;

/// The network for a job; none if it would be slower.
template <typename T>
std::shared_ptr<const Network> small_network(const FilterJob &job) {
  const Mask &mask = job.mask();
  const int n = mask.count();
  if (job.op == SwoFilterOperator::directional_median) {
    constexpr int kLongestLine = sizeof(T) == 1 ? 15 : 17;
    if (std::max(mask.width, mask.height) > kLongestLine) return {};
    return find_network(mask, question_of(job, n));
  }
  if (n < 1 || n > kMostCells || mask.width > 63) return {};
  auto network = find_network(mask, question_of(job, n));
  const bool is_mode = job.op == SwoFilterOperator::mode;
  const int most = sizeof(T) > 1 && is_mode && mask.rectangle ? kMostModeCost : kMostCost<T>;
  return network->cost() <= most ? network : nullptr;
}

/// Whether the sorted row and column of a cross are faster than other methods.
template <typename T>
bool is_large_cross(const FilterJob &job) {
  const Mask &mask = job.mask();
  const bool is_mean = job.op == SwoFilterOperator::alpha_trimmed_mean;
  if (job.op == SwoFilterOperator::mode || !mask.is_cross()) return false;
  if (sizeof(T) == 1 && is_mean && has_squares<T>(job)) return false;
  const int least = sizeof(T) == 1 ? (is_mean ? 43 : 21) : is_mean ? 3 : 13;
  return std::min(mask.width, mask.height) >= least;
}

}  // namespace

template <typename T>
void rank(Cpu &cpu, Plane<const T> in, Plane<T> out, const FilterJob &job) {
  const Mask &mask = job.mask();
  const int rx = mask.rx(), ry = mask.ry();
  const bool clip = job.border == SwoFilterBorder::clip;
  const bool lines = job.op == SwoFilterOperator::directional_median;
  const auto network = small_network<T>(job);
  const bool columns = !network && !lines && sizeof(T) == 1 && mask.rectangle;
  const bool cross = !network && !lines && !columns && is_large_cross<T>(job);
  const bool pads = !network && !clip && (lines || columns || cross);
  const Strided<const T> from(pads ? pad(cpu, in, job) : in);
  const Area<T> all{from, Strided<T>(out), pads ? rx : 0, pads ? ry : 0, 0, in.width, 0, in.height};

  // Complete windows, if there are any.
  const int x0 = clip ? std::min(rx, in.width) : 0, x1 = std::max(in.width - x0, x0);
  const int y0 = clip ? std::min(ry, in.height) : 0, y1 = std::max(in.height - y0, y0);

  // By lines or histograms of columns; other windows are left to ask_tiles().
  const auto ask_any = [&](int left, int right, int top, int bottom) {
    Area<T> area = all;
    area.x0 = left, area.x1 = right, area.y0 = top, area.y1 = bottom;
    if (left >= right || top >= bottom) return;
    if (lines) return ask_lines(area, rx, ry);
    if (cross) return ask_cross(area, job);
    if constexpr (sizeof(T) == 1)
      if (columns) return ask_columns(area, job);
  };

  if (network || lines || columns || cross)
    cpu.for_bands(
        in.height, std::max(kMinRows, network ? 0 : mask.height / 2), [&](int begin, int end) {
          if (!network || x0 == x1) return ask_any(0, in.width, begin, end);
          const int middle = std::clamp(y0, begin, end), bottom = std::clamp(y1, middle, end);
          ask_any(0, in.width, begin, middle);
          ask_any(0, x0, middle, bottom);
          NetworkRows<T>(in, out, job, *network).run(x0, x1, middle, bottom);
          ask_any(x1, in.width, middle, bottom);
          ask_any(0, in.width, bottom, end);
        });
  if (lines || columns || cross) return;
  if (!network && has_squares<T>(job))
    return ask_squares(cpu, in, out, job, 0, in.width, 0, in.height);
  if (!network && can_follow<T>(job))
    return follow_places(cpu, in, out, job, 0, in.width, 0, in.height);
  if (!network || x0 == x1) return ask_tiles(cpu, in, out, job, 0, in.width, 0, in.height);
  ask_tiles(cpu, in, out, job, 0, in.width, 0, y0);
  ask_tiles(cpu, in, out, job, 0, x0, y0, y1);
  ask_tiles(cpu, in, out, job, x1, in.width, y0, y1);
  ask_tiles(cpu, in, out, job, 0, in.width, y1, in.height);
}
template void rank(Cpu &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const FilterJob &);
template void rank(Cpu &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const FilterJob &);

}  // namespace cudascan::swo
