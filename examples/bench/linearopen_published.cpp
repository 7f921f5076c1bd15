// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/linearopen_published.h"

#include <tuple>

#include "bench/linearopen_cases.h"

namespace cudascan::bench {
namespace {

using linearopen::PublishedOpening, linearopen::ZoneSettings;

constexpr double kAngles[] = {0, 45, 90};

const char *direction(double angle) {
  return angle == 0 ? "horizontal" : angle == 90 ? "vertical" : "diagonal";
}

Case opening_of(int side, int length, double angle) {
  return opening_case({side, side, 8}, length, angle);
}

const char *name(PublishedOpening algorithm) {
  switch (algorithm) {
    case PublishedOpening::morard:
      return "Morard";
    case PublishedOpening::bartovsky:
      return "Bartovsky";
    case PublishedOpening::morard_zones:
      return "Morard, zones";
    case PublishedOpening::bartovsky_zones:
      return "Bartovsky, zones";
    case PublishedOpening::bartovsky_rows:
      return "Bartovsky, rows";
    case PublishedOpening::van_droogenbroeck:
      return "VanD";
    case PublishedOpening::clienti:
      return "Clienti";
  }
  return "?";
}

Case published_case(int side, const KarasOpening &opening) {
  Case c = opening_of(side, opening.length, opening.angle);
  c.variant += std::string(" by ") + name(opening.algorithm);
  if (opening.zones.zones > 0) c.variant.append(" ").append(std::to_string(opening.zones.zones));
  const auto direction = lines::Direction::of(opening.angle);
  c.runner.cpu = [=](Cpu &cpu, AnyPlane in, AnyPlane out) {
    linearopen::open_lines(cpu, opening.algorithm, direction, opening.length,
                           in.as<const std::uint8_t>(), out.as<std::uint8_t>());
  };
  c.runner.cuda = [=](Cuda &cuda, AnyPlane in, AnyPlane out) {
    const std::span directions(&direction, 1);
    void *const scratch = cuda.scratch(
        linearopen::open_lines_scratch(cuda, opening.algorithm, directions, opening.length,
                                       in.width, in.height, 1, opening.zones));
    linearopen::open_lines(cuda, opening.algorithm, directions, opening.length,
                           in.as<const std::uint8_t>(), {out.as<std::uint8_t>(), 0}, scratch,
                           opening.zones);
  };
  return c;
}

// ---- Figures 2, 5 and 8 -------------------------------------------------------------------------

/// A line of a plot.
struct Algorithm {
  const char *name;  ///< as in the figures
  PublishedOpening algorithm;
  ZoneSettings zones{};
};

struct Comparison {
  const char *figure, *title;
  bool cuda;
  std::vector<Algorithm> algorithms;
};

const std::vector<Comparison> &comparisons() {
  using enum PublishedOpening;
  const ZoneSettings texture{.texture = true};
  static const std::vector<Comparison> all{
      {"figure 2",
       "algorithms on the CPU",
       false,
       {{"VanD", van_droogenbroeck},
        {"Morard", morard},
        {"Bartovsky", bartovsky_rows},
        {"Bartovsky (lines)", bartovsky},
        {"Clienti", clienti}}},
      {"figure 5", "basic kernels", true, {{"Morard", morard}, {"Bartovsky", bartovsky}}},
      {"figure 8",
       "optimized kernels",
       true,
       {{"Morard", morard_zones},
        {"Morard (texture)", morard_zones, texture},
        {"Bartovsky", bartovsky_zones},
        {"Bartovsky (texture)", bartovsky_zones, texture}}}};
  return all;
}

/// Lengths of 5 % of the width, horizontal and vertical.
void compare(KarasTimes &times, const Comparison &comparison, Report &report) {
  const Backend *backend = times.backend(comparison.cuda);
  if (!backend) return;
  const std::string figure = comparison.figure;
  PaperTable table(
      report, "paper 002 " + figure,
      "FIGURE " + figure.substr(7) + " of Karas et al.: " + comparison.title + ", lengths of 5 %");
  for (const double angle : {0., 90.})
    for (const Algorithm &algorithm : comparison.algorithms) {
      Patience patience(times.options(), *backend);
      for (const int side : times.sides()) {
        Row row = times.line(*backend, patience, side,
                             {algorithm.algorithm, side / 20, angle, algorithm.zones});
        row.series = algorithm.name + std::string(", ") + direction(angle);
        row.name = row.series;
        row.parameter = "pixels";
        row.value = row.size.pixels();
        table.add(row);
      }
    }
}

// ---- Figures 9 and 10 ---------------------------------------------------------------------------

/// Time against the size, or against the length at two sizes: Bartovsky's algorithm on the CPU and
/// on the GPU, and the other libraries.
class SizesOrLengths {
 public:
  SizesOrLengths(KarasTimes &times, bool sizes, Report &report)
      : times_(times),
        sizes_(sizes),
        table_(report, sizes ? "paper 002 figure 9" : "paper 002 figure 10",
               sizes ? "FIGURE 9 of Karas et al.: sizes, length 41"
                     : "FIGURE 10 of Karas et al.: lengths, at two sizes") {}

  void operator()() {
    for (const bool cuda : {false, true}) {
      const Backend *backend = times_.backend(cuda);
      if (!backend) continue;
      for (const double angle : kAngles) {
        if (sizes_) {
          add(*backend, angle, times_.sides(), {kKarasLength});
          continue;
        }
        for (const int side : times_.sides())
          if (side == 640 || side == 2560) add(*backend, angle, {side}, lengths());
      }
    }
  }

 private:
  std::vector<int> lengths() const {
    if (times_.options().quick) return {11, 161};
    return {3, 11, 21, 41, 81, 161, 321};
  }
  void add(const Backend &backend, double angle, const std::vector<int> &sides,
           const std::vector<int> &lengths) {
    Patience published(times_.options(), backend), peer(times_.options(), backend);
    for (const int side : sides)
      for (const int length : lengths) add(backend, angle, side, length, published, peer);
  }
  void add(const Backend &backend, double angle, int side, int length, Patience &published,
           Patience &peer) {
    const auto algorithm =
        backend.cuda ? PublishedOpening::bartovsky_zones : PublishedOpening::bartovsky;
    Row row = times_.line(backend, published, side, {algorithm, length, angle});
    times_.add_peer(backend, peer, length, angle, row);
    row.series = backend.cuda ? "GPU (Bartovsky), " : "CPU (Bartovsky), ";
    row.series += direction(angle);
    row.name = row.series;
    if (!sizes_) row.name.append(" ").append(std::to_string(length));
    row.parameter = sizes_ ? "pixels" : "length";
    row.value = sizes_ ? row.size.pixels() : length;
    double &cpu_us = cpu_us_[{side, length, angle}];
    if (!backend.cuda) {
      cpu_us = row.baseline_us;
    } else if (cpu_us > 0) {
      row.speedup = cpu_us / row.baseline_us;
      row.published = std::string(kKarasGpu) + ", " + kKarasCpu;
      row.note = "published: 10 to 50 times the speed of the CPU";
    }
    table_.add(row);
  }

  KarasTimes &times_;
  const bool sizes_;
  PaperTable table_;
  std::map<std::tuple<int, int, double>, double> cpu_us_;
};

// ---- Figure 11 ----------------------------------------------------------------------------------

/// What zones gain over one zone of the same kernel, and equation 5.
void zones(KarasTimes &times, const Backend &backend, Report &report) {
  PaperTable table(report, "paper 002 figure 11",
                   "FIGURE 11 of Karas et al.: zones, vertical; speed-ups are over Z = 1, "
                   "the published ones by equation 5");
  for (const int side : times.sides())
    for (const int length : {11, 21, kKarasLength, 81, 161}) {
      if (times.options().quick && length != kKarasLength) continue;
      double whole_us = kUnknown;
      for (const int z : {1, 2, 4}) {
        Patience patience(times.options(), backend);
        Row row = times.line(backend, patience, side,
                             {PublishedOpening::bartovsky_zones, length, 90, {.zones = z}});
        row.series = "Z = " + std::to_string(z);
        row.name = row.series + ", length " + std::to_string(length);
        row.parameter = "length";
        row.value = length;
        if (z == 1) whole_us = row.baseline_us;
        row.speedup = whole_us / row.baseline_us;
        // The equation has no meaning where zones are mostly overlap.
        const double predicted = linearopen::predicted_speedup(z, length, side);
        if (predicted > 0) {
          row.published = "equation 5";
          row.published_speedup = predicted;
        }
        table.add(row);
      }
    }
}

}  // namespace

std::vector<int> KarasTimes::sides() const {
  if (options_.quick) return {640, 1280};
  return {640, 1280, 2560, 6480};
}

const Backend *KarasTimes::backend(bool cuda) const {
  for (const Backend &backend : backends_)
    if (backend.cuda == cuda) return &backend;
  return nullptr;
}

Row KarasTimes::ours(const Backend &backend, int side, int length, double angle) {
  const Case c = opening_of(side, length, angle);
  const auto [found, is_new] = ours_.try_emplace(backend.name + c.name());
  if (is_new) found->second = backend.time(c);
  return found->second;
}

Row KarasTimes::line(const Backend &backend, Patience &patience, int side,
                     const KarasOpening &opening) {
  Row row = ours(backend, side, opening.length, opening.angle);
  set_baseline(row, patience.measure(published_case(side, opening), row.size.pixels()));
  return row;
}

void KarasTimes::add_peer(const Backend &backend, Patience &patience, int length, double angle,
                          Row &row) const {
  Case c = opening_case(row.size, length, angle);
  LinearOpenParams params;
  params.length = length;
  params.angle = angle;
  if (backend.cuda)
    c.peer = NppLineOpening{length, angle};
  else
    c.peer = opencv_openings(params);
  // Masks: NPP visits the bounding box of the line, OpenCV only the line.
  const double cells = backend.cuda ? double(length) * length : length;
  const Row with_peer = patience.measure(c, row.size.pixels() * cells);
  row.peer = with_peer.peer;
  row.peer_us = with_peer.peer_us;
}

void print_karas_figures(KarasTimes &times, Report &report) {
  const auto wanted = [&](const std::string &figure) {
    return times.options().wants("paper 002 " + figure);
  };
  for (const Comparison &comparison : comparisons())
    if (wanted(comparison.figure)) compare(times, comparison, report);
  if (wanted("figure 9")) SizesOrLengths(times, true, report)();
  if (wanted("figure 10")) SizesOrLengths(times, false, report)();
  const Backend *cuda = times.backend(true);
  if (cuda && wanted("figure 11")) zones(times, *cuda, report);
}

}  // namespace cudascan::bench
