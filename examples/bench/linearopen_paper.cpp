// SPDX-License-Identifier: LGPL-2.1-or-later
// Karas et al., "GPU Implementation of Linear Morphological Openings with Arbitrary Angle": tables
// 1 and 2, and copies; linearopen_published.cpp has the figures.
#include "bench/linearopen_cases.h"
#include "bench/linearopen_published.h"

namespace cudascan::bench {
namespace {

using linearopen::PublishedOpening, linearopen::ZoneSettings;

// ---- Table 1 ------------------------------------------------------------------------------------

/// A row for one generation of GPUs, and for images below a width in multiples of the number of
/// multiprocessors.
struct Configuration {
  const char *name;
  ZoneSettings zones;
};
constexpr Configuration kTable1[] = {
    {"1.x, below 64 N", {.zones = 4, .threads = 32, .recent = 16}},
    {"1.x, below 128 N", {.zones = 4, .threads = 64, .recent = 8}},
    {"1.x, below 256 N", {.zones = 2, .threads = 64, .recent = 8}},
    {"1.x, from 256 N", {.zones = 1, .threads = 64, .recent = 8}},
    {"2.x, below 64 N", {.zones = 4, .threads = 32, .recent = 32}},
    {"2.x, below 192 N", {.zones = 4, .threads = 96, .recent = 16}},
    {"2.x, below 384 N", {.zones = 2, .threads = 96, .recent = 16}},
    {"2.x, from 384 N", {.zones = 1, .threads = 96, .recent = 16}},
    {"rules of section 5.4", {}}};

void table_1(KarasTimes &times, const Backend &backend, Report &report) {
  PaperTable table(report, "paper 002 table 1",
                   "TABLE 1 of Karas et al.: its configurations here, vertical, length 41");
  for (const int side : times.sides())
    for (const Configuration &configuration : kTable1) {
      Patience patience(times.options(), backend);
      Row row =
          times.line(backend, patience, side,
                     {PublishedOpening::bartovsky_zones, kKarasLength, 90, configuration.zones});
      row.series = row.name = configuration.name;
      row.parameter = "pixels";
      row.value = row.size.pixels();
      table.add(row);
    }
}

// ---- Table 2 ------------------------------------------------------------------------------------

struct Application {
  const char *name;
  Size size;
  int directions;
  double bartovsky_ms, morard_ms, gpu_ms, speedup;
};
constexpr Application kApplications[] = {
    {"Fingerprint", {784, 1133, 8}, 180, 3768.7, 3129.2, 115.9, 27.0},
    {"D15", {640, 640, 8}, 180, 2425.8, 2014.0, 58.0, 34.7},
    {"D47", {640, 640, 8}, 180, 2397.7, 2014.0, 55.1, 36.6},
    {"Music1", {1000, 1411, 8}, 81, 5830.0, 4840.7, 129.3, 37.4},
    {"Music2", {1000, 1301, 8}, 81, 7297.1, 4958.8, 136.5, 36.3}};

/// The angular spectrum, and of the fingerprint the strongest direction of each pixel.
LinearOpenParams application(const Application &a) {
  LinearOpenParams params;
  params.length = kKarasLength;
  params.directions = a.directions;
  if (a.directions == 81) {  // section 6.1.3
    params.operation = LinearOpenOperation::closing;
    params.length = 250;
    params.angle = -10;
    params.span = 20;
  } else if (a.name == std::string("Fingerprint")) {
    params.output = LinearOpenOutput::orientation;
  }
  return params;
}

class Table2 {
 public:
  Table2(KarasTimes &times, Report &report)
      : times_(times),
        table_(report, "paper 002 table 2",
               "TABLE 2 of Karas et al.: angular spectra of many directions") {}

  void operator()() {
    for (const Application &a : kApplications) {
      if (times_.options().quick && a.directions < 180) continue;
      add(a, "CPU (Bart)", false, LinearOpenAlgorithm::bartovsky, a.bartovsky_ms);
      const double morard_us = add(a, "CPU (Mor)", false, LinearOpenAlgorithm::morard, a.morard_ms);
      add(a, "GPU (Bart)", true, LinearOpenAlgorithm::bartovsky_zones, a.gpu_ms, a.speedup,
          morard_us);
    }
  }

 private:
  /// @param cpu_us  Morard's here, for the speed-up
  /// @return the time here
  double add(const Application &a, const char *column, bool cuda, LinearOpenAlgorithm algorithm,
             double published_ms, double published_speedup = kUnknown, double cpu_us = kUnknown) {
    const Backend *backend = times_.backend(cuda);
    if (!backend) return kUnknown;
    LinearOpenParams params = application(a);
    const bool spectrum = params.output == LinearOpenOutput::filtered;
    Row row = backend->time(linearopen_case(a.size, params, spectrum));
    params.algorithm = algorithm;
    Patience patience(times_.options(), *backend);
    set_baseline(row, patience.measure(linearopen_case(a.size, params, spectrum),
                                       a.size.pixels() * a.directions));
    row.series = a.name;
    row.name = row.series + ", " + column;
    row.published = cuda ? kKarasGpu : kKarasCpu;
    row.published_us = published_ms * 1e3;
    row.published_speedup = published_speedup;
    row.speedup = cpu_us / row.baseline_us;
    table_.add(row);
    return row.baseline_us;
  }

  KarasTimes &times_;
  PaperTable table_;
};

// ---- Section 6 ----------------------------------------------------------------------------------

/// The text: copies take about as long as one opening.
void transfers(const Options &options, const std::vector<int> &sides, Report &report) {
  PaperTable table(report, "paper 002 transfers",
                   "TRANSFERS of Karas et al. (section 6): one opening, vertical, length 41");
  std::vector<Size> sizes;
  for (const int side : sides) sizes.push_back({side, side, 8});
  const auto times = [&](LinearOpenAlgorithm algorithm) {
    return time_transfers(options, sizes, opening_case({}, kKarasLength, 90, algorithm).runner);
  };
  const auto published = times(LinearOpenAlgorithm::bartovsky_zones);
  const auto ours = times(LinearOpenAlgorithm::automatic);
  if (published.empty() || ours.empty()) return;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (const auto &[name, which] : {std::pair{"opening", &TransferTimes::kernel},
                                      std::pair{"with copies", &TransferTimes::pageable},
                                      std::pair{"with copies, pinned", &TransferTimes::pinned}}) {
      Row row;
      row.name = name;
      row.backend = "cuda";
      row.op = "linearopen";
      row.size = sizes[i];
      row.baseline_us = published[i].*which;
      row.us = ours[i].*which;
      if (which != &TransferTimes::kernel) {
        row.published = kKarasGpu;
        row.note = "published: about twice the time of the opening";
      }
      table.add(row);
    }
}

}  // namespace

void print_karas_tables(KarasTimes &times, Report &report) {
  const Backend *cuda = times.backend(true);
  if (cuda && times.options().wants("paper 002 table 1")) table_1(times, *cuda, report);
  if (times.options().wants("paper 002 table 2")) Table2(times, report)();
}

/// Tables 1 and 2, figures 2, 5, 8 to 11 and copies of Karas et al., "GPU Implementation of Linear
/// Morphological Openings with Arbitrary Angle".
void linearopen_paper(const Options &options, bool with_cuda, Report &report) {
  bool wanted = false;
  for (const char *part : {"table 1", "table 2", "figure 2", "figure 5", "figure 8", "figure 9",
                           "figure 10", "figure 11", "transfers"})
    wanted |= options.wants(std::string("paper 002 ") + part);
  if (!wanted) return;
  const std::vector<Backend> backends = table_backends(options, with_cuda);
  KarasTimes times(options, backends);
  print_karas_tables(times, report);
  print_karas_figures(times, report);
  if (times.backend(true) && options.wants("paper 002 transfers"))
    transfers(options, times.sides(), report);
}

}  // namespace cudascan::bench
