// SPDX-License-Identifier: LGPL-2.1-or-later
// Closings are openings of the complement, floating-point samples integers that are ordered alike
// (linearopen_samples.h), and flat lines steep ones of the transposed image. So there is one thing to
// do fast: open along steep lines. Neighbours of these are neighbours in every row, hence in vectors.
#include "kernels/linearopen.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/linearopen_baseline.h"
#include "kernels/linearopen_cpu.h"
#include "kernels/linearopen_rows.h"
#include "kernels/linearopen_samples.h"
#include "kernels/linearopen_spectrum.h"
#include "kernels/refuse.h"

namespace cudascan {
namespace linearopen {

namespace {
const char scratch_key = 0;
}  // namespace

Scratch::Scratch(Cpu &cpu, std::size_t bytes) {
  const auto memory = reinterpret_cast<std::uintptr_t>(cpu.history(&scratch_key, bytes + kLine));
  next_ = reinterpret_cast<unsigned char *>((memory + kLine - 1) / kLine * kLine);
}

}  // namespace linearopen

namespace {

using namespace linearopen;
using lines::Direction;

constexpr int kMinRows = 64, kMinStrips = 4;  // fewer are not worth a thread

/// An image as it is, or transposed.
template <typename T>
struct View {
  Plane<const T> source;
  Plane<T> best, orientation;
};

/// The samples, if they are floats as their bits.
template <typename Sample>
auto bits(Plane<Sample> plane) {
  using T = Ordered<std::remove_const_t<Sample>>;
  using Bits = std::conditional_t<std::is_const_v<Sample>, const T, T>;
  return Plane<Bits>{reinterpret_cast<Bits *>(plane.data), plane.width, plane.height, plane.stride};
}

template <typename T>
T *strip_memory(int length, int rows) {
  thread_local std::vector<unsigned char> memory;
  const std::size_t size = strip_scratch<T>(std::min(length, 2 * rows - 1)) * sizeof(T);
  if (memory.size() < size + kStripBytes) memory.resize(size + kStripBytes);
  const auto address = reinterpret_cast<std::uintptr_t>(memory.data());
  return reinterpret_cast<T *>((address + kStripBytes - 1) / kStripBytes * kStripBytes);
}

/// All directions of one image, one after the other.
template <typename Sample>
class Opening {
 public:
  using T = Ordered<Sample>;

  Opening(Cpu &cpu, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
          LinearOpenReport *report)
      : cpu_(cpu),
        params_(p),
        in_(bits(in)),
        out_(bits(out)),
        maximum_(in.maximum),
        report_(report),
        flip_(flip_of<T>(p.operation)),
        orient_(p.output == LinearOpenOutput::orientation),
        baseline_(p.algorithm != LinearOpenAlgorithm::automatic),
        angles_(directions_of(p)) {
    for (const double angle : angles_) directions_.push_back(Direction::of(angle));
  }

  void operator()() {
    prepare();
    std::vector<std::int64_t> sums;
    const int shift = kFloat ? 0 : unused_low_bits(static_cast<unsigned>(maximum_));
    for (std::size_t i = 0; i < angles_.size(); ++i) {
      turn(!directions_[i].steep && !baseline_);
      const auto degrees = static_cast<int>(std::floor(angles_[i] + 0.5)) % 180;
      sums.push_back(open(directions_[i], static_cast<T>((degrees + 180) % 180 << shift)));
    }
    turn(false);
    if (report_) fill_report(std::move(sums));
    finish();
  }

 private:
  static constexpr bool kFloat = std::is_same_v<Sample, float>;

  /// Whether directions go through a plane of their own before the best is taken.
  bool apart(const Direction &direction) const {
    return baseline_ || invariant(direction) || (kFloat && report_);
  }
  /// Lines along an axis or a diagonal are the same everywhere.
  bool invariant(const Direction &direction) const {
    return params_.lines == LinearOpenLines::invariant && direction.slope != 0 &&
           direction.slope != 1 << Direction::kFraction;
  }

  void prepare() {
    const int width = in_.width, height = in_.height;
    bool flat = false, apart_upright = false, apart_turned = false;
    std::size_t segments = 0;
    for (const Direction &d : directions_) {
      const bool turned = !d.steep && !baseline_;
      flat |= turned;
      (turned ? apart_turned : apart_upright) |= apart(d);
      if (invariant(d))
        segments =
            std::max(segments, turned ? invariant_scratch<T>(d, params_.length, height, width)
                                      : invariant_scratch<T>(d, params_.length, width, height));
    }
    const bool converted = kFloat || (baseline_ && flip_ != 0);
    const std::size_t upright_bytes = Scratch::bytes_of<T>(width, height),
                      turned_bytes = Scratch::bytes_of<T>(height, width);
    const std::size_t apart_bytes =
        std::max(apart_upright ? upright_bytes : 0, apart_turned ? turned_bytes : 0);
    Scratch scratch(cpu_, (converted + orient_) * upright_bytes +
                              (flat ? 2 + orient_ : 0) * turned_bytes + apart_bytes + segments);

    upright_ = {in_, out_, out_};
    if (orient_) upright_.best = scratch.take<T>(width, height);
    if (converted) {
      const auto source = scratch.take<T>(width, height);
      for_rows(height, [&](int y) { convert(in_.row(y), width, source.row(y)); });
      upright_.source = source;
      source_flip_ = 0;
    }
    if (flat) {
      const auto source = scratch.take<T>(height, width);
      transpose(upright_.source, source);
      turned_.source = source;
      turned_.best = scratch.take<T>(height, width);
      if (orient_) turned_.orientation = scratch.take<T>(height, width);
    }
    free_ = scratch;
  }

  template <typename Row>
  void for_rows(int height, const Row &row) {
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) row(y);
    });
  }

  /// Adds up what rows give.
  template <typename Row>
  std::int64_t sum_of_rows(int height, const Row &row) {
    std::atomic<std::int64_t> total = 0;
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      std::int64_t sum = 0;
      for (int y = begin; y < end; ++y) sum += row(y);
      total += sum;
    });
    return total;
  }

  void convert(const T *in, int n, T *out) const {
    for (int x = 0; x < n; ++x) {
      if constexpr (kFloat)
        out[x] = ordered_of_bits(in[x]) ^ flip_;
      else
        out[x] = in[x] ^ flip_;
    }
  }

  void transpose(Plane<const T> in, Plane<T> out) {
    cpu_.for_bands(in.width, kMinRows,
                   [&](int begin, int end) { rows<T>().transpose(in, begin, end, out); });
  }

  /// Goes on with the image as it is or transposed.
  void turn(bool turned) {
    if (turned == is_turned_) return;
    const View<T> &from = view(), &to = turned ? turned_ : upright_;
    if (started_) {
      transpose(from.best, to.best);
      if (orient_) transpose(from.orientation, to.orientation);
    }
    is_turned_ = turned;
  }
  const View<T> &view() const { return is_turned_ ? turned_ : upright_; }

  /// Opens in one direction. Returns the sum of the result, if it is reported.
  std::int64_t open(const Direction &direction, T degree) {
    const bool first = !started_;
    started_ = true;
    if (!apart(direction)) {
      const T flip = finishes_early() ? flip_ : T(0);
      return open_lines(
          {view().best, first, flip, orient_, view().orientation, degree, report_ != nullptr},
          direction);
    }
    Scratch scratch = free_;
    const Plane<const T> source = view().source;
    const auto result = scratch.take<T>(source.width, source.height);
    if (baseline_)
      linearopen::open_lines(cpu_, params_.algorithm, direction, params_.length, source, result);
    else if (invariant(direction))
      open_invariant(cpu_, source, source_flip_, direction, params_.length, result, scratch);
    else
      open_lines({result, true, 0, false, {}, 0, false}, direction);
    return add(result, first, degree);
  }

  /// Opens along lines of the view that are steep there.
  std::int64_t open_lines(const Sink<T> &sink, const Direction &direction) {
    const Plane<const T> source = view().source;
    Direction steep = direction;
    steep.steep = true;
    const auto partition = lines::Partition::of(steep, source.width, source.height);
    std::vector<int> shifts(partition.steps);
    for (int y = 0; y < partition.steps; ++y) shifts[y] = steep.shift(y);
    const int n_strips = (partition.count + kLanes<T> - 1) / kLanes<T>;
    std::atomic<std::uint64_t> sum = 0;
    cpu_.for_bands(n_strips, kMinStrips, [&](int first, int last) {
      T *const memory = strip_memory<T>(params_.length, partition.steps);
      std::uint64_t sum_of_band = 0;
      for (int i = first; i < last; ++i) {
        const int line = partition.first + i * kLanes<T>;
        // Rows in which the strip is to the right of the image, in it, and to the left of it follow
        // each other in this order or in the opposite one.
        const auto inside = [&](int shift) {
          return line + shift < source.width && line + shift + kLanes<T> > 0;
        };
        const auto begin = std::find_if(shifts.begin(), shifts.end(), inside);
        const auto end = std::find_if_not(begin, shifts.end(), inside);
        if (begin == end) continue;
        const Strip strip{shifts.data(), line, static_cast<int>(begin - shifts.begin()),
                          static_cast<int>(end - shifts.begin()), params_.length};
        sum_of_band += rows<T>().open_strip(source, source_flip_, strip, sink, memory);
      }
      sum += sum_of_band;
    });
    return static_cast<std::int64_t>(sum.load());
  }

  /// Adds a direction's opening to what there is of others. Returns its sum, if it is reported.
  std::int64_t add(Plane<const T> opening, bool first, T degree) {
    const View<T> &to = view();
    const int n = opening.width;
    for_rows(opening.height, [&](int y) {
      T *const orientation = orient_ ? to.orientation.row(y) : nullptr;
      if (!first)
        return rows<T>().accumulate(opening.row(y), n, to.best.row(y), orientation, degree);
      std::copy_n(opening.row(y), n, to.best.row(y));
      if (orientation) std::fill_n(orientation, n, degree);
    });
    if (!report_) return 0;
    return sum_of_rows(opening.height, [&](int y) -> std::int64_t {
      if constexpr (!kFloat) return static_cast<std::int64_t>(rows<T>().sum(opening.row(y), n));
      const T *const source = to.source.row(y);
      std::int64_t sum = 0;
      for (int x = 0; x < n; ++x) sum += spectrum_units(result_of(opening.row(y)[x], source[x]));
      return sum;
    });
  }

  /// The result from an opening of floating-point samples and its source.
  float result_of(T opening, T source) const {
    const auto value = [](T ordered) {
      return std::bit_cast<float>(bits_of_ordered(static_cast<std::uint32_t>(ordered)));
    };
    const float filtered = value(opening ^ flip_);
    if (!is_difference(params_.operation)) return filtered;
    return flip_ ? filtered - value(source ^ flip_) : value(source ^ flip_) - filtered;
  }

  /// Whether openings are written as they come out in the end.
  bool finishes_early() const {
    return angles_.size() == 1 && !kFloat && !orient_ && !is_difference(params_.operation);
  }

  /// Makes results of openings or of their directions.
  void finish() {
    const int n = out_.width;
    const bool flipped = flip_ != 0 && !(finishes_early() && !apart(directions_[0]));
    for_rows(out_.height, [&](int y) {
      T *const row = out_.row(y);
      if constexpr (kFloat) {
        const T *const source = upright_.source.row(y);
        for (int x = 0; x < n; ++x)
          row[x] =
              std::bit_cast<T>(orient_ ? static_cast<float>(row[x]) : result_of(row[x], source[x]));
      } else if (!orient_ && is_difference(params_.operation)) {
        rows<T>().subtract(in_.row(y), n, flip_, row);
      } else if (!orient_ && flipped) {
        rows<T>().flip(row, n, flip_, row);
      }
    });
  }

  void fill_report(std::vector<std::int64_t> sums) {
    if constexpr (!kFloat) {
      // Sums of openings of samples ^ flip; a closing is the complement of that.
      const auto pixels = std::int64_t{in_.width} * in_.height;
      const std::int64_t all = pixels * static_cast<T>(~T{0});
      if (is_difference(params_.operation)) {
        const std::int64_t sum = sum_of_rows(in_.height, [&](int y) {
          return static_cast<std::int64_t>(rows<T>().sum(in_.row(y), in_.width));
        });
        for (std::int64_t &s : sums) s = (flip_ ? all - sum : sum) - s;
      } else if (flip_) {
        for (std::int64_t &s : sums) s = all - s;
      }
    }
    report_->angles = angles_;
    report_->spectrum = std::move(sums);
    analyse_spectrum(params_, static_cast<double>(in_.width) * in_.height,
                     kFloat ? maximum_ * 65536. : maximum_, *report_);
  }

  Cpu &cpu_;
  const LinearOpenParams &params_;
  const Plane<const T> in_;
  const Plane<T> out_;
  const double maximum_;
  LinearOpenReport *const report_;
  const T flip_;
  const bool orient_, baseline_;
  const std::vector<double> angles_;
  std::vector<Direction> directions_;
  View<T> upright_{}, turned_{};
  T source_flip_ = flip_;  ///< xored to what is read from a source
  Scratch free_;
  bool is_turned_ = false, started_ = false;
};

template <typename Sample>
void run_any(Cpu &cpu, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
             LinearOpenReport *report) {
  validate(p);
  check_sizes(in.width, in.height, out.width, out.height);
  Opening<Sample>(cpu, in, out, p, report)();
}

}  // namespace

void run(Cpu &cpu, Plane<const std::uint8_t> in, Plane<std::uint8_t> out, const LinearOpenParams &p,
         LinearOpenReport *report) {
  run_any(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const LinearOpenParams &p, LinearOpenReport *report) {
  run_any(cpu, in, out, p, report);
}
void run(Cpu &cpu, Plane<const float> in, Plane<float> out, const LinearOpenParams &p,
         LinearOpenReport *report) {
  run_any(cpu, in, out, p, report);
}
#ifndef HAVE_CUDA  // stands in for linearopen.cu
void run(Cuda &, Plane<const std::uint8_t>, Plane<std::uint8_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const std::uint16_t>, Plane<std::uint16_t>, const LinearOpenParams &,
         LinearOpenReport *) {
  refuse_cuda();
}
void run(Cuda &, Plane<const float>, Plane<float>, const LinearOpenParams &, LinearOpenReport *) {
  refuse_cuda();
}
#endif

}  // namespace cudascan
