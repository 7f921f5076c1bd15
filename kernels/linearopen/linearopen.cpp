// SPDX-License-Identifier: LGPL-2.1-or-later
// Closings are openings of the complement. Floating-point samples are converted to integers with
// the same order (samples.h). Flat lines are steep lines of the transposed image. So only opening
// along steep lines must be fast. Neighbouring steep lines are neighbours in every row, so vectors
// can hold them.
#include "kernels/linearopen.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "kernels/base/refuse.h"
#include "kernels/linearopen/baseline.h"
#include "kernels/linearopen/cpu.h"
#include "kernels/linearopen/rows.h"
#include "kernels/linearopen/samples.h"
#include "kernels/linearopen/scratch_planes.h"
#include "kernels/linearopen/spectrum.h"

namespace cudascan {
namespace linearopen {

void *thread_bytes(std::size_t bytes) {
  thread_local AlignedMemory memory;
  return memory.reserve(bytes);
}

}  // namespace linearopen

namespace {

using namespace linearopen;
using lines::Direction;

constexpr int kMinRows = 64;  // fewer rows do not justify a thread

/// An image as it is, or transposed.
template <typename T>
struct View {
  Plane<const T> source;
  Plane<T> best, orientation;
};

/// All directions of one image, one after another.
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
    const auto flat = std::count_if(directions_.begin(), directions_.end(),
                                    [](const Direction &d) { return !d.steep; });
    // Transposing the image and two results takes as long as opening in about eight directions.
    constexpr int kWorthTurning = 7;
    turns_ = !baseline_ && (orient_ || (angles_.size() > 1 && flat >= kWorthTurning));
  }

  void operator()() {
    if (all_short()) return open_all_at_once();
    prepare();
    std::vector<std::int64_t> sums;
    const int shift = kFloat ? 0 : unused_low_bits(static_cast<unsigned>(maximum_));
    for (std::size_t i = 0; i < angles_.size(); ++i) {
      turn(turned(directions_[i]));
      sums.push_back(open(directions_[i], static_cast<T>(degree_of(angles_[i]) << shift)));
    }
    turn(false);
    if (report_) fill_report(std::move(sums));
    finish();
  }

 private:
  static constexpr bool kFloat = std::is_same_v<Sample, float>;

  /// Whether to transpose the image for a direction.
  bool turned(const Direction &direction) const { return turns_ && !direction.steep; }
  /// Whether a direction's result goes to a separate plane before the best is taken. Flat lines
  /// need that if the image is not transposed.
  bool apart(const Direction &direction) const {
    const bool flat = !direction.steep && !turns_ && angles_.size() > 1;
    return flat || baseline_ || (kFloat && report_);
  }
  /// Segments along an axis or a diagonal are the same at every pixel.
  static bool along_axis_or_diagonal(const Direction &direction) {
    return direction.slope == 0 || direction.slope == 1 << Direction::kFraction;
  }
  /// Whether the same segment at every pixel is requested and lines do not already give it.
  bool invariant(const Direction &direction) const {
    return params_.lines == LinearOpenLines::invariant && !along_axis_or_diagonal(direction);
  }

  bool all_short() const {
    const bool same_everywhere =
        params_.lines == LinearOpenLines::invariant ||
        std::all_of(directions_.begin(), directions_.end(), along_axis_or_diagonal);
    return same_everywhere && directions_.size() > 1 && !baseline_ && !orient_ &&
           !(kFloat && report_) &&
           directions_.size() * static_cast<std::size_t>(params_.length) <= kMostShort;
  }
  void open_all_at_once() {
    const bool last = !is_difference(params_.operation);
    std::vector<std::int64_t> sums;
    open_short(cpu_, in_, flip_, directions_, params_.length, last, out_,
               report_ ? &sums : nullptr);
    if (report_) fill_report(std::move(sums));
    if (!last) finish();
  }

  void prepare() {
    const int width = in_.width, height = in_.height;
    bool flat = false, apart_upright = false, apart_turned = false;
    std::size_t segments = 0;
    for (const Direction &d : directions_) {
      const bool turned = this->turned(d);
      flat |= turned;
      (turned ? apart_turned : apart_upright) |= apart(d);
      if (invariant(d)) segments = std::max(segments, segment_scratch(d, turned));
    }
    const bool converted = baseline_ && (kFloat || flip_ != 0);
    const std::size_t upright_bytes = PlaneScratch::bytes_of<T>(width, height),
                      turned_bytes = PlaneScratch::bytes_of<T>(height, width);
    const std::size_t apart_bytes =
        std::max(apart_upright ? upright_bytes : 0, apart_turned ? turned_bytes : 0);
    PlaneScratch scratch(cpu_, (converted + orient_) * upright_bytes +
                                   (flat ? 2 + orient_ : 0) * turned_bytes + apart_bytes +
                                   segments);

    upright_ = {in_, out_, out_};
    if (orient_) upright_.best = scratch.take<T>(width, height);
    if (converted) {
      const auto source = scratch.take<T>(width, height);
      for_rows(height, [&](int y) { rows<T>().order(in_.row(y), width, flip_, source.row(y)); });
      upright_.source = source;
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

  /// Data for openings by the same segment everywhere.
  std::size_t segment_scratch(Direction direction, bool turned) const {
    direction.steep |= turned;
    return invariant_scratch<T>(cpu_, direction, params_.length, turned ? in_.height : in_.width,
                                turned ? in_.width : in_.height);
  }

  template <typename Row>
  void for_rows(int height, const Row &row) {
    cpu_.for_bands(height, kMinRows, [&](int begin, int end) {
      for (int y = begin; y < end; ++y) row(y);
    });
  }

  /// Adds up the results of rows.
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

  void transpose(Plane<const T> in, Plane<T> out) {
    cpu_.for_bands(in.width, kMinRows,
                   [&](int begin, int end) { rows<T>().transpose(in, begin, end, out); });
  }

  /// Switches to the image or to its transposed copy.
  void turn(bool turned) {
    if (turned == is_turned_) return;
    const View<T> &from = view(), &to = turned ? turned_ : upright_;
    if (started_) {
      transpose(from.best, to.best);
      if (orient_) transpose(from.orientation, to.orientation);
    }
    is_turned_ = turned;
  }
  /// A direction relative to the view.
  Direction seen(Direction direction) const {
    direction.steep |= is_turned_;
    return direction;
  }
  const View<T> &view() const { return is_turned_ ? turned_ : upright_; }

  /// Opens in one direction. Returns the sum of the result if it is reported.
  std::int64_t open(const Direction &direction, T degree) {
    const bool first = !started_;
    started_ = true;
    if (!apart(direction)) {
      const Sink<T> sink{view().best,        first,  finishes_early(),  orient_,
                         view().orientation, degree, report_ != nullptr};
      return open_lines(sink, direction, free_);
    }
    PlaneScratch scratch = free_;
    const Plane<const T> source = view().source;
    const auto result = scratch.take<T>(source.width, source.height);
    if (baseline_)
      linearopen::open_lines(cpu_, published_opening(params_.algorithm), direction, params_.length,
                             source, result);
    else
      open_lines({result, true, false, false, {}, 0, false}, direction, scratch);
    return add(result, first, degree);
  }

  /// Opens along the lines that cut the view, or with the same segment everywhere. Returns the sum
  /// of the openings, if the sink wants it.
  std::int64_t open_lines(const Sink<T> &sink, const Direction &direction, PlaneScratch scratch) {
    if (invariant(direction))
      return open_invariant(cpu_, view().source, flip_, seen(direction), params_.length, sink,
                            scratch);
    return open_partition(cpu_, view().source, flip_, seen(direction), params_.length, sink);
  }

  /// Merges a direction's opening with earlier ones. Returns its sum if it is reported.
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
      if constexpr (kFloat)
        return rows<T>().spectrum((baseline_ ? in_ : to.source).row(y), opening.row(y), n, flip_,
                                  is_difference(params_.operation));
      else
        return static_cast<std::int64_t>(rows<T>().sum(opening.row(y), n));
    });
  }

  /// Whether openings are written in their final form.
  bool finishes_early() const {
    return angles_.size() == 1 && !apart(directions_[0]) && !orient_ &&
           !is_difference(params_.operation);
  }

  /// Makes the final result from openings or from their directions.
  void finish() {
    if (finishes_early() || (!kFloat && orient_)) return;
    const int n = out_.width;
    for_rows(out_.height, [&](int y) {
      T *const row = out_.row(y);
      if (orient_)
        for (int x = 0; x < n; ++x) row[x] = of_degree(row[x]);
      else if (is_difference(params_.operation))
        rows<T>().subtract(in_.row(y), n, flip_, row);
      else if (kFloat || flip_)
        rows<T>().restore(row, n, flip_);
    });
  }

  static T of_degree(T degree) {
    if constexpr (kFloat) return std::bit_cast<T>(static_cast<float>(degree));
    return degree;
  }

  void fill_report(std::vector<std::int64_t> sums) {
    if constexpr (!kFloat) {
      const auto pixels = std::int64_t{in_.width} * in_.height;
      std::int64_t input = 0;
      if (is_difference(params_.operation))
        input = sum_of_rows(in_.height, [&](int y) {
          return static_cast<std::int64_t>(rows<T>().sum(in_.row(y), in_.width));
        });
      restore_sums(sums, params_.operation, flip_ != 0, pixels * static_cast<T>(~T{0}), input);
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
  PlaneScratch free_;
  bool turns_ = false, is_turned_ = false, started_ = false;
};

template <typename Sample>
void run_any(Cpu &cpu, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
             LinearOpenReport *report) {
  validate(p);
  check_planes(in, out);
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

}  // namespace cudascan
