// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The tables and figures of Karas et al., "GPU Implementation of Linear Morphological Openings
/// with Arbitrary Angle". The figures are plots without numbers; their sizes are not given, so
/// these are squares of 0.4 to 42 Mpx, the last as large as the text has them.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/paper.h"
#include "kernels/linearopen.h"
#include "kernels/linearopen/baseline.h"

namespace cudascan::bench {

inline constexpr int kKarasLength = 41;  // of their figure 1
inline constexpr char kKarasCpu[] = "Core i7-870", kKarasGpu[] = "Tesla C2050";

/// An algorithm of the paper, as its figures measure it: one direction.
struct KarasOpening {
  linearopen::PublishedOpening algorithm;
  int length;
  double angle;
  linearopen::ZoneSettings zones{};
};

/// Measures what the tables need.
class KarasTimes {
 public:
  /// @param backends  of this machine; CUDA, one core of the CPU, or both
  KarasTimes(const Options &options, const std::vector<Backend> &backends)
      : options_(options), backends_(backends) {}

  /// The widths of the images.
  std::vector<int> sides() const;
  const Options &options() const { return options_; }
  /// Null if there is none.
  const Backend *backend(bool cuda) const;
  /// The time of our opening, measured once.
  Row ours(const Backend &backend, int side, int length, double angle);
  /// A line: ours, and the paper's algorithm unless it would take too long.
  Row line(const Backend &backend, Patience &patience, int side, const KarasOpening &opening);
  /// Adds OpenCV's time on the CPU, NPP's on the GPU.
  void add_peer(const Backend &backend, Patience &patience, int length, double angle,
                Row &row) const;

 private:
  const Options &options_;
  const std::vector<Backend> &backends_;
  std::map<std::string, Row> ours_;
};

/// Figures 2, 5, 8, 9, 10 and 11, as far as they are wanted.
void print_karas_figures(KarasTimes &times, Report &report);
/// Tables 1 and 2.
void print_karas_tables(KarasTimes &times, Report &report);

}  // namespace cudascan::bench
