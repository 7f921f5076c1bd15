// SPDX-License-Identifier: LGPL-2.1-or-later
// One launch opens along all directions (openings.cuh): along steep lines of the image or, for flat
// lines, of a transposed copy. A launch before it makes that copy. If there are several directions,
// each has a plane for its result, and another launch finds the best of them. If rows end within a
// word, a launch first clears these words of the planes. A last launch converts the best result to
// samples and transposes it back. For one steep direction, one launch does everything.
#include "kernels/linearopen.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/base/cuda_check.cuh"
#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"
#include "kernels/linearopen/baseline.h"
#include "kernels/linearopen/fold.cuh"
#include "kernels/linearopen/openings.cuh"
#include "kernels/linearopen/scratch_planes.h"
#include "kernels/linearopen/segment_opening.cuh"
#include "kernels/linearopen/spectrum.h"
#include "kernels/linearopen/tiles.cuh"

namespace cudascan {
namespace {

using namespace linearopen;
using lines::Direction;

/// Results of directions at once, and scratch memory of segments that are opened together. One
/// direction of a large image keeps a GPU busy.
constexpr std::size_t kPlanesBytes = std::size_t{256} << 20, kApartBytes = 2 * kPlanesBytes;

/// Everything for one run().
template <typename Sample>
class Opening {
 public:
  using T = Ordered<Sample>;

  Opening(Cuda &cuda, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
          LinearOpenReport *report)
      : cuda_(cuda),
        params_(p),
        in_(bits(in)),
        out_(bits(out)),
        maximum_(in.maximum),
        report_(report),
        flip_(flip_of<T>(p.operation)),
        angles_(directions_of(p)) {
    // First the steep lines, then the flat ones.
    for (const bool turned : {false, true}) {
      for (std::size_t i = 0; i < angles_.size(); ++i) {
        const Direction d = Direction::of(angles_[i]);
        if (is_turned(d) != turned) continue;
        (apart(d) ? apart_ : lines_).push_back({d, static_cast<int>(i), turned});
        ++count_[turned];
      }
    }
  }

  void operator()() {
    const bool direct = angles_.size() == 1 && count_[0] == 1 && apart_.empty() &&
                        !is_difference(params_.operation) && !orientation() &&
                        !(kFloat && report_) && at_whole_words(in_) && at_whole_words(out_);
    take_scratch(direct);
    if (report_) cuda_.clear(sums_, sums_bytes());
    if (direct) {
      open(0, 1, {out_, out_}, true);
    } else {
      if (converted_.data) prepare(prepare_kernel<T>, converted_);
      if (turned_.data) prepare(prepare_turned_kernel<T>, turned_);
      clear_ends();
      for (std::size_t i = 0; i < lines_.size(); i += batch_) open_and_fold(lines_, i);
      for (std::size_t i = 0; i < apart_.size(); i += batch_) open_and_fold(apart_, i);
      finish();
    }
    if (report_) queue_report();
  }

 private:
  static constexpr bool kFloat = std::is_same_v<Sample, float>;
  struct Numbered {
    Direction direction;
    int number;
    bool turned;
  };
  struct Source {
    Plane<const T> plane;
    bool floats;
    T flip;
  };
  /// For either kind of lines.
  using Planes = Plane<T>[2];

  template <typename Any>
  static bool at_whole_words(const Plane<Any> &plane) {
    return reinterpret_cast<std::uintptr_t>(plane.data) % 4 == 0 && plane.stride % 4 == 0 &&
           plane.width % Packed<T>::kSamples == 0;
  }

  bool orientation() const { return params_.output == LinearOpenOutput::orientation; }
  bool baseline() const { return params_.algorithm != LinearOpenAlgorithm::automatic; }
  bool invariant(const Direction &d) const {
    return params_.lines == LinearOpenLines::invariant && d.slope != 0 &&
           d.slope != 1 << Direction::kFraction;
  }
  bool apart(const Direction &d) const { return baseline() || invariant(d); }
  bool is_turned(const Direction &d) const { return !d.steep && !baseline(); }

  // ---- Memory -----------------------------------------------------------------------------------

  std::size_t sums_bytes() const { return (angles_.size() + 1) * sizeof(std::uint64_t); }
  /// Of a plane of lines, which may be transposed.
  int width_of(bool turned) const { return turned ? in_.height : in_.width; }
  int height_of(bool turned) const { return turned ? in_.width : in_.height; }
  std::size_t bytes_of(bool turned) const {
    return plane_bytes<T>(width_of(turned), height_of(turned));
  }

  void take_scratch(bool direct) {
    std::size_t bytes = 0;
    std::vector<std::pair<unsigned char **, std::size_t>> parts;
    const auto want = [&](unsigned char *&at, std::size_t n) {
      parts.push_back({&at, bytes});
      bytes += (n + 255) / 256 * 256;
    };
    unsigned char *sums = nullptr, *converted = nullptr, *turned = nullptr, *best[2]{};
    want(sums, sums_bytes());
    plane_bytes_ = std::max(count_[0] ? bytes_of(false) : 0, count_[1] ? bytes_of(true) : 0);
    batch_ = std::clamp<std::size_t>(kPlanesBytes / plane_bytes_, 4, kMostFolded);
    if (!direct) {
      want(planes_, std::min(batch_, angles_.size()) * plane_bytes_);
      for (const bool is_turned : {false, true})
        if (folds() && count_[is_turned])
          want(best[is_turned], bytes_of(is_turned) + number_bytes(is_turned));
      if (count_[0] && ((!apart_.empty() && (kFloat || flip_ != 0)) || !at_whole_words(in_)))
        want(converted, bytes_of(false));
      if (count_[1]) want(turned, bytes_of(true));
      apart_bytes_ = scratch_apart();
      const std::size_t fit = kApartBytes / std::max<std::size_t>(apart_bytes_, 1);
      together_ = baseline() ? 1 : std::clamp<std::size_t>(fit, 1, kMostCoverJobs);
      want(apart_scratch_, std::min(together_, apart_.size()) * apart_bytes_);
    }
    auto *const memory = static_cast<unsigned char *>(cuda_.scratch(bytes));
    for (const auto &[at, offset] : parts) *at = memory + offset;
    sums_ = reinterpret_cast<std::uint64_t *>(sums);
    if (converted) converted_ = plane_at<T>(converted, in_.width, in_.height);
    if (turned) turned_ = plane_at<T>(turned, in_.height, in_.width);
    for (const bool is_turned : {false, true})
      if (!direct && count_[is_turned]) best_[is_turned] = best_at(best[is_turned], is_turned);
  }
  /// Whether there is more than the result of one direction.
  bool folds() const { return angles_.size() > 1 || orientation(); }
  std::size_t number_bytes(bool turned) const {
    return orientation() ? stride_of<std::uint16_t>(width_of(turned)) * height_of(turned) : 0;
  }
  Best<T> best_at(unsigned char *memory, bool turned) const {
    const int width = width_of(turned), height = height_of(turned);
    if (!folds()) return {plane_at<T>(planes_, width, height), {}};
    Best<T> best{plane_at<T>(memory, width, height), {}};
    if (orientation())
      best.number = {reinterpret_cast<std::uint16_t *>(memory + bytes_of(turned)), width, height,
                     static_cast<std::ptrdiff_t>(stride_of<std::uint16_t>(width))};
    return best;
  }
  std::size_t scratch_apart() const {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < apart_.size(); i += baseline() ? batch_ : 1)
      bytes = std::max(bytes, baseline()
                                  ? open_lines_scratch(cuda_, published_opening(params_.algorithm),
                                                       batch_of_apart(i), params_.length, in_.width,
                                                       in_.height, sizeof(T))
                                  : segments(apart_[i]).scratch_bytes());
    return bytes;
  }
  std::vector<Direction> batch_of_apart(std::size_t first) const {
    std::vector<Direction> batch;
    for (std::size_t i = first; i < apart_.size() && batch.size() < batch_; ++i)
      batch.push_back(apart_[i].direction);
    return batch;
  }
  SegmentOpening<T> segments(const Numbered &d) const {
    return {cuda_, seen(d), params_.length, width_of(d.turned), height_of(d.turned)};
  }
  /// A direction in its plane, in which all lines for `automatic` are steep.
  static Direction seen(const Numbered &d) {
    Direction steep = d.direction;
    steep.steep = true;
    return steep;
  }

  // ---- Work -------------------------------------------------------------------------------------

  LaunchShape overlapped(dim3 blocks, int threads, int bytes = 0) const {
    return {blocks, threads, bytes, cuda_.code_architecture() >= 90};
  }
  static dim3 tiles_of(int width, int height) {
    return {static_cast<unsigned>(divide_up(width, kTileWidth<T>)),
            static_cast<unsigned>(divide_up(height, kTileHeight))};
  }
  static unsigned word_of(T flip) { return flip ? ~0u : 0; }

  /// Ordered integers, those of a closing complemented.
  void prepare(void (*kernel)(PrepareJob<T>), const Plane<T> &to) {
    launch(cuda_, kernel, overlapped(tiles_of(to.width, to.height), kTileThreads),
           PrepareJob<T>{in_, to, kFloat, word_of(flip_)});
  }
  /// Clears the bytes after the end of each row of the planes, as far as they are read.
  void clear_ends() {
    EndsJob<T> job{};
    job.bytes = plane_bytes_;
    int rows = 0;
    for (const bool turned : {false, true}) {
      if (count_[turned] == 0 || width_of(turned) % Packed<T>::kSamples == 0) continue;
      job.planes[turned] = plane_at<T>(planes_, width_of(turned), height_of(turned));
      rows = std::max(rows, height_of(turned));
    }
    if (rows == 0) return;
    const auto planes = static_cast<unsigned>(std::min(batch_, angles_.size()));
    launch(cuda_, clear_ends_kernel<T>,
           overlapped(dim3(divide_up(rows, kFoldThreads), planes, 2), kFoldThreads), job);
  }
  Source source(bool turned) const {
    if (turned) return {turned_, false, 0};
    if (converted_.data) return {converted_, false, 0};
    return {in_, kFloat, flip_};
  }

  /// Opens along n directions from `first` on, into as many planes from the given ones on.
  void open(std::size_t first, int n, const Planes &out, bool restore) {
    // Any segment that is longer than the image everywhere has the same result as one of this
    // length.
    const int length = std::min(params_.length, 2 * std::max(in_.width, in_.height) + 1);
    Lines lines[2];
    OpenJob<T> job{};
    job.out_floats = restore && kFloat;
    job.out_flip = restore ? word_of(flip_) : 0;
    job.out_bytes = plane_bytes_;
    job.length = length;
    job.sums = report_ && !kFloat ? sums_ : nullptr;
    for (int i = 0; i < n; ++i) {
      const auto &[direction, number, turned] = lines_[first + i];
      job.lines[i] = {static_cast<std::uint32_t>(direction.slope), direction.rising, turned,
                      static_cast<std::uint16_t>(number)};
      const auto partition =
          lines::Partition::of(seen(lines_[first + i]), width_of(turned), height_of(turned));
      Lines &these = lines[turned];
      these.steps = partition.steps;
      these.across = partition.across;
      these.directions.push_back({partition.count, static_cast<std::uint32_t>(direction.slope)});
    }
    const Cuts cuts = best_cuts<T>(cuda_, lines, length);
    if (cuts.lanes == 0)
      refuse("length is ", params_.length, ": the ", cuda_.most_shared_memory() / 1024,
             " KiB of shared memory of a block on this GPU are too little for it; use a shorter "
             "one, or the CPU");
    int parts = 0;
    for (const bool turned : {false, true}) {
      if (lines[turned].directions.empty()) continue;
      const auto [plane, floats, flip] = source(turned);
      job.source[turned] = {plane, floats, word_of(flip), out[turned], cuts.cut[turned]};
      parts = std::max(parts, cuts.cut[turned].parts);
    }
    queue_openings(cuda_, cuts, dim3(cuts.strips, parts, n), job);
  }

  /// Opens along some of these lines, starting at `first`, and keeps the best.
  void open_and_fold(const std::vector<Numbered> &directions, std::size_t first) {
    const int n = static_cast<int>(std::min(batch_, directions.size() - first));
    const Planes planes{plane_at<T>(planes_, width_of(false), height_of(false)),
                        plane_at<T>(planes_, width_of(true), height_of(true))};
    &directions == &lines_ ? open(first, n, planes, false) : open_apart(first, n);
    FoldJob<T> job{};
    job.bytes = plane_bytes_;
    int wanted = 0;
    for (int i = 0; i < n; ++i) {
      const auto &[direction, number, turned] = directions[first + i];
      const Plane<T> plane =
          plane_at<T>(planes_ + i * plane_bytes_, width_of(turned), height_of(turned));
      if (report_ && (kFloat || &directions == &apart_)) queue_sum(plane, source(turned), number);
      if (!folds()) continue;
      FoldPart<T> &part = job.part[turned];
      if (part.n++ == 0) {
        part = {plane, 1, i, folded_[turned], best_[turned]};
        wanted = std::max(wanted, divide_up(plane.width, Packed<T>::kSamples) * plane.height);
      }
      job.numbers[i] = static_cast<std::uint16_t>(number);
      folded_[turned] = true;
    }
    if (wanted == 0) return;
    launch(cuda_, orientation() ? fold_kernel<T, true> : fold_kernel<T, false>,
           overlapped(dim3(divide_up(wanted, kFoldThreads), 1, 2), kFoldThreads), job);
  }

  /// Opens along n of apart_ from `first` on, into as many planes.
  void open_apart(std::size_t first, int n) {
    if (baseline())
      return open_lines(cuda_, published_opening(params_.algorithm), batch_of_apart(first),
                        params_.length, source(false).plane,
                        {plane_at<T>(planes_, in_.width, in_.height), plane_bytes_},
                        apart_scratch_);
    std::vector<SegmentJobs<T>> jobs;
    for (int i = 0; i < n; ++i) {
      const Numbered &d = apart_[first + i];
      const Plane<T> out =
          plane_at<T>(planes_ + i * plane_bytes_, width_of(d.turned), height_of(d.turned));
      jobs.push_back(segments(d).jobs(source(d.turned).plane, out,
                                      apart_scratch_ + jobs.size() * apart_bytes_));
      if (jobs.size() < together_ && i + 1 < n) continue;
      queue_together(cuda_, jobs);
      jobs.clear();
    }
  }

  /// Adds up a direction's result.
  void queue_sum(const Plane<const T> &opening, const Source &source, int number) {
    const dim3 blocks(divide_up(opening.width, kFoldThreads), divide_up(opening.height, 16));
    launch(cuda_, sum_kernel<T>, {blocks, kFoldThreads},
           SumJob<T>{opening, source.plane, source.floats, source.flip, flip_, kFloat,
                     is_difference(params_.operation), sums_ + number});
  }

  void finish() {
    FinishJob<T> job{};
    job.in = in_;
    job.out = out_;
    job.upright = best_[0];
    job.turned = best_[1];
    job.flip = word_of(flip_);
    job.floats = kFloat;
    job.operation = params_.operation;
    job.degree_shift = kFloat ? 0 : unused_low_bits(static_cast<unsigned>(maximum_));
    for (std::size_t i = 0; i < angles_.size(); ++i)
      job.degrees[i] = static_cast<std::uint8_t>(degree_of(angles_[i]));
    launch(cuda_, orientation() ? finish_kernel<T, true> : finish_kernel<T, false>,
           overlapped(tiles_of(in_.width, in_.height), kTileThreads), job);
  }

  void queue_report() {
    const bool difference = is_difference(params_.operation);
    // The sum of the input, after the sums of the directions.
    if (difference && !kFloat) queue_sum(in_, {in_, false, 0}, static_cast<int>(angles_.size()));
    auto *const host = static_cast<std::uint64_t *>(cuda_.report_memory(sums_bytes()));
    cuda_.fetch(host, sums_, sums_bytes());
    const auto pixels = std::int64_t{in_.width} * in_.height;
    cuda_.on_complete([=, angles = angles_, params = params_, flip = flip_, maximum = maximum_,
                       report = report_] {
      report->angles = angles;
      report->spectrum.assign(host, host + angles.size());
      if (!kFloat)
        restore_sums(report->spectrum, params.operation, flip != 0, pixels * static_cast<T>(~T{0}),
                     static_cast<std::int64_t>(host[angles.size()]));
      analyse_spectrum(params, static_cast<double>(pixels), kFloat ? maximum * 65536. : maximum,
                       *report);
    });
  }

  Cuda &cuda_;
  const LinearOpenParams &params_;
  const Plane<const T> in_;
  const Plane<T> out_;
  const double maximum_;
  LinearOpenReport *const report_;
  const T flip_;
  const std::vector<double> angles_;
  std::vector<Numbered> lines_, apart_;  // lines for openings.cuh, and the others
  // For directions that are not transposed, and for those that are.
  std::size_t count_[2]{};
  Best<T> best_[2]{};
  bool folded_[2]{};
  std::size_t plane_bytes_ = 0, batch_ = 0, apart_bytes_ = 0, together_ = 0;
  std::uint64_t *sums_ = nullptr;
  unsigned char *planes_ = nullptr, *apart_scratch_ = nullptr;
  Plane<T> converted_{}, turned_{};
};

template <typename Sample>
void run_any(Cuda &cuda, Plane<const Sample> in, Plane<Sample> out, const LinearOpenParams &p,
             LinearOpenReport *report) {
  validate(p);
  check_planes(in, out);
  Opening<Sample>(cuda, in, out, p, report)();
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const LinearOpenParams &p, LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const LinearOpenParams &p, LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const float> in, Plane<float> out, const LinearOpenParams &p,
         LinearOpenReport *report) {
  run_any(cuda, in, out, p, report);
}

}  // namespace cudascan
