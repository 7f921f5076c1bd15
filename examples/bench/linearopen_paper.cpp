// SPDX-License-Identifier: LGPL-2.1-or-later
// Karas et al., "GPU Implementation of Linear Morphological Openings with Arbitrary Angle": Table 2
// and figures 2, 5 and 8 to 11. The figures are plots without numbers; their sizes are not given,
// so these are squares of 0.4 to 42 Mpx, the last as large as the text has them.
#include "bench/linearopen_cases.h"
#include "bench/paper.h"

namespace cudascan::bench {
namespace {

using Algorithm = LinearOpenAlgorithm;

constexpr int kLength = 41;  // of its Figure 1
constexpr int kSides[] = {640, 1280, 2560, 6480};
constexpr double kAngles[] = {0, 45, 90};

LinearOpenParams line(int length, double angle, Algorithm algorithm = Algorithm::automatic) {
  LinearOpenParams params;
  params.length = length;
  params.angle = angle;
  params.algorithm = algorithm;
  return params;
}

LinearOpenParams with(LinearOpenParams params, Algorithm algorithm) {
  params.algorithm = algorithm;
  return params;
}

double openings(Size size, const LinearOpenParams &params) {
  return size.pixels() * params.directions;
}

// ---- Table 2 ------------------------------------------------------------------------------------

struct Application {
  const char *name;
  Size size;
  int directions;
  double bartovsky_ms, morard_ms, gpu_ms;
};
constexpr Application kApplications[] = {
    {"Fingerprint", {784, 1133, 8}, 180, 3768.7, 3129.2, 115.9},
    {"D15", {640, 640, 8}, 180, 2425.8, 2014.0, 58.0},
    {"D47", {640, 640, 8}, 180, 2397.7, 2014.0, 55.1},
    {"Music1", {1000, 1411, 8}, 81, 5830.0, 4840.7, 129.3},
    {"Music2", {1000, 1301, 8}, 81, 7297.1, 4958.8, 136.5}};

/// The angular spectrum, and of the fingerprint the strongest direction of each pixel.
LinearOpenParams application(const Application &a) {
  LinearOpenParams params = line(kLength, 0);
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

void table_2(const Options &options, const std::vector<Backend> &backends, Report &report) {
  PaperTable table(report, "paper 002 table 2",
                   "TABLE 2 of Karas et al.: angular spectra of many directions");
  for (const Backend &backend : backends) {
    Patience bartovsky(options, backend), morard(options, backend);
    for (const Application &a : kApplications) {
      const LinearOpenParams params = application(a);
      const bool spectrum = params.output == LinearOpenOutput::filtered;
      const Row ours = backend.time(linearopen_case(a.size, params, spectrum));
      const auto add = [&](const char *what, Algorithm algorithm, Patience &patience,
                           const char *hardware, double published_ms, double speedup) {
        Row row = ours;
        row.name = std::string(a.name) + ", " + what;
        row.published = hardware;
        row.published_us = published_ms * 1e3;
        row.published_speedup = speedup;
        const Case published = linearopen_case(a.size, with(params, algorithm));
        set_baseline(row, patience.measure(published, openings(a.size, params)));
        table.add(row);
      };
      if (backend.cuda) {
        add("GPU (Bart)", Algorithm::bartovsky_zones, bartovsky, "Tesla C2050", a.gpu_ms,
            a.morard_ms / a.gpu_ms);
      } else {
        add("CPU (Bart)", Algorithm::bartovsky, bartovsky, "Core i7-870", a.bartovsky_ms, kUnknown);
        add("CPU (Mor)", Algorithm::morard, morard, "Core i7-870", a.morard_ms, kUnknown);
      }
    }
  }
}

// ---- Figures ------------------------------------------------------------------------------------

/// One line: an algorithm of the figure, ours, and the other library if wanted.
struct Point {
  std::string name;
  Size size;
  LinearOpenParams params;
  bool with_peer = false;
};

Row measure(const Backend &backend, Patience &published, Patience &beside_peer,
            const Point &point) {
  Case ours = linearopen_case(point.size, with(point.params, Algorithm::automatic));
  const double work = openings(point.size, point.params);
  Row row;
  if (point.with_peer) {
    Case with_peer = ours;
    if (backend.cuda)
      with_peer.peer = NppLineOpening{point.params.length, point.params.angle};
    else
      with_peer.peer = opencv_openings(point.params);
    // Masks: NPP visits the bounding box of the line, OpenCV only the line.
    const double length = point.params.length;
    row = beside_peer.measure(with_peer, work * (backend.cuda ? length * length : length));
  }
  if (row.name.empty()) row = backend.time(ours);
  row.name = point.name;
  set_baseline(row, published.measure(linearopen_case(point.size, point.params), work));
  return row;
}

const char *direction(double angle) {
  return angle == 0 ? "horizontal" : angle == 90 ? "vertical" : "diagonal";
}

/// Figures 2, 5 and 8: algorithms, horizontal and vertical, lengths of 5 % of the width.
void algorithms(const Options &options, const Backend &backend, const std::string &name,
                const std::string &title, const std::vector<Algorithm> &published, Report &report) {
  PaperTable table(report, name, title);
  for (const double angle : {0., 90.})
    for (const Algorithm algorithm : published) {
      Patience patience(options, backend);
      for (const int side : kSides) {
        if (options.quick && side > 1280) continue;
        const Size size{side, side, 8};
        const LinearOpenParams params = line(side / 20, angle, algorithm);
        table.add(
            measure(backend, patience, patience,
                    {bench::name(algorithm) + std::string(", ") + direction(angle), size, params}));
      }
    }
}

/// Figure 9: time against the size; 10: against the length, at a small and a large size.
void sizes_and_lengths(const Options &options, const std::vector<Backend> &backends,
                       const std::string &figure, Report &report) {
  const bool nine = figure == "paper 002 figure 9";
  PaperTable table(report, figure,
                   nine ? "FIGURE 9 of Karas et al.: sizes, length 41"
                        : "FIGURE 10 of Karas et al.: lengths, at two sizes");
  for (const Backend &backend : backends)
    for (const double angle : kAngles)
      for (const int side : kSides) {
        if (nine ? options.quick && side > 1280 : side != 640 && (side != 2560 || options.quick))
          continue;
        const Size size{side, side, 8};
        Patience published(options, backend), peer(options, backend);
        for (const int length : {3, 11, 21, 41, 81, 161, 321}) {
          if (nine ? length != kLength : options.quick && length != 11 && length != 161) continue;
          const auto algorithm = backend.cuda ? Algorithm::bartovsky_zones : Algorithm::bartovsky;
          std::string name = backend.cuda ? "GPU (Bartovsky), " : "CPU (Bartovsky), ";
          name += direction(angle);
          if (!nine) name.append(" ").append(std::to_string(length));
          const bool peer_too = backend.cuda || length <= kLength;
          Row row = measure(backend, published, peer,
                            {name, size, line(length, angle, algorithm), peer_too});
          if (nine) row.parameter = "pixels";
          row.value = nine ? size.pixels() : length;
          table.add(row);
        }
      }
}

/// Figure 11: what Bartovsky's algorithm gains from splitting the image into zones.
void zones(const Options &options, const Backend &backend, Report &report) {
  PaperTable table(report, "paper 002 figure 11",
                   "FIGURE 11 of Karas et al.: zones; the speed-up is over Z = 1");
  for (const int side : kSides) {
    if (options.quick && side > 1280) continue;
    const Size size{side, side, 8};
    for (const int length : {11, kLength, 161}) {
      double whole_us = kUnknown;
      for (const Algorithm algorithm : {Algorithm::bartovsky, Algorithm::bartovsky_zones}) {
        const bool split = algorithm == Algorithm::bartovsky_zones;
        Patience patience(options, backend);
        Row row = measure(backend, patience, patience,
                          {(split ? "zones, " : "Z = 1, ") + std::to_string(length) + " vertical",
                           size, line(length, 90, algorithm)});
        if (split)
          row.speedup = whole_us / row.baseline_us;
        else
          whole_us = row.baseline_us;
        table.add(row);
      }
    }
  }
}

}  // namespace

/// Table 2 and figures 2, 5, 8 to 11 of Karas et al., "GPU Implementation of Linear Morphological
/// Openings with Arbitrary Angle".
void linearopen_paper(const Options &options, bool with_cuda, Report &report) {
  std::vector<Backend> backends;
  const auto wanted = [&](const char *table) {
    if (!options.wants(std::string("paper 002 ") + table)) return false;
    if (backends.empty()) backends = table_backends(options, with_cuda);
    return true;
  };
  const auto on = [&](bool cuda, const std::function<void(const Backend &)> &print) {
    for (const Backend &backend : backends)
      if (backend.cuda == cuda) print(backend);
  };
  if (wanted("table 2")) table_2(options, backends, report);
  if (wanted("figure 2"))
    on(false, [&](const Backend &cpu) {
      algorithms(options, cpu, "paper 002 figure 2",
                 "FIGURE 2 of Karas et al.: algorithms on the CPU, lengths of 5 %",
                 {Algorithm::morard, Algorithm::bartovsky}, report);
    });
  if (wanted("figure 5"))
    on(true, [&](const Backend &cuda) {
      algorithms(options, cuda, "paper 002 figure 5",
                 "FIGURE 5 of Karas et al.: basic kernels, lengths of 5 %",
                 {Algorithm::morard, Algorithm::bartovsky}, report);
    });
  if (wanted("figure 8"))
    on(true, [&](const Backend &cuda) {
      algorithms(options, cuda, "paper 002 figure 8",
                 "FIGURE 8 of Karas et al.: optimized kernels, lengths of 5 %",
                 {Algorithm::morard, Algorithm::bartovsky_zones}, report);
    });
  for (const char *figure : {"figure 9", "figure 10"})
    if (wanted(figure))
      sizes_and_lengths(options, backends, std::string("paper 002 ") + figure, report);
  if (wanted("figure 11")) on(true, [&](const Backend &cuda) { zones(options, cuda, report); });
}

}  // namespace cudascan::bench
