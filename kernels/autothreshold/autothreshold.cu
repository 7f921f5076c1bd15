// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/autothreshold/baseline.cuh"
#include "kernels/autothreshold/kernel.cuh"

namespace cudascan {

template void autothreshold::queue(Cuda &, const ThresholdJob<std::uint8_t> &);

namespace {

using namespace autothreshold;

template <typename T, typename Out>
void run_any(Cuda &cuda, Plane<const T> in, Plane<Out> out, const AutothresholdParams &p,
             AutothresholdReport *report) {
  check_call(p, in, out);
  ThresholdJob<T> job{};
  const Levels levels = Levels::of(in.maximum);
  const std::size_t state_bytes = histogram::state_bytes<T>(cuda, levels);
  static const char key = 0;
  auto *const state = static_cast<unsigned char *>(
      cuda.history(&key, state_bytes + sizeof(SharingTeam::Mail) + 2 * sizeof(ThresholdHistory)));
  const bool aligned =
      histogram::is_aligned(in, 16) && histogram::is_aligned(out, 16 * sizeof(Out) / sizeof(T));
  job.count = CountJob<T>(in, {p.roi, p.ignore_black, p.ignore_white}, aligned,
                          reinterpret_cast<histogram::State *>(state));
  if constexpr (sizeof(T) == sizeof(Out))
    job.out = out;
  else
    job.narrow_out = out;
  job.narrow = sizeof(T) != sizeof(Out);
  job.method = p.method;
  job.classes = p.classes;
  job.apply = p.apply;
  job.settings = make_settings(p, levels.count);
  for (int i = 0; i < p.classes; ++i)
    job.values[i] = value_of_class(i, p.classes, p.invert, out.maximum);
  job.mail = reinterpret_cast<SharingTeam::Mail *>(state + state_bytes);
  job.history = reinterpret_cast<ThresholdHistory *>(job.mail + 1);

  static const char found_key = 0;
  job.found = static_cast<Found *>(
      cuda.history(&found_key, sizeof(Found) + levels.count * sizeof(std::uint32_t)));
  auto *const found_counts = reinterpret_cast<std::uint32_t *>(job.found + 1);
  if (report) job.report_counts = found_counts;

  if (p.algorithm == AutothresholdAlgorithm::prahara) {
    if constexpr (sizeof(T) == 1 && sizeof(Out) == 1) {
      const threshold::BaselineHistory history{job.history, &job.count.state->launches};
      threshold::run_prahara(cuda, in, out, p, history, job.found->thresholds, found_counts);
    }
  } else {
    job.team_values =
        static_cast<unsigned char *>(cuda.scratch(GridTeam::bytes(cuda.multiprocessors())));
    queue(cuda, job);
  }
  if (report) {
    const std::size_t bytes = sizeof(Found) + levels.count * sizeof(std::uint32_t);
    auto *const host = static_cast<unsigned char *>(cuda.report_memory(bytes));
    cuda.fetch(host, job.found, bytes);
    cuda.on_complete([=, classes = p.classes] {
      const auto *const found = reinterpret_cast<const Found *>(host);
      const auto *const counts = reinterpret_cast<const std::uint32_t *>(found + 1);
      fill_report(Histogram(counts, counts + levels.count), found->thresholds, classes, *report);
    });
  }
}

}  // namespace

void run(Cuda &cuda, Plane<const std::uint8_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint16_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}
void run(Cuda &cuda, Plane<const std::uint16_t> in, Plane<std::uint8_t> out,
         const AutothresholdParams &p, AutothresholdReport *report) {
  run_any(cuda, in, out, p, report);
}

}  // namespace cudascan
