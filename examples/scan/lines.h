// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How strong the lines of a page are at some angles, measured on the CPU or on a GPU with the same
/// results.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "profile.h"

namespace cudascan::scan {

/// Sums of squares of the sums along lines: of the halves of the page, of the upper and the lower
/// half of the lines of the page, and of all lines without the two strongest.
struct HalfStrengths {
  double left, right, top, bottom, most;
};
/// The same of eighths, quarters and halves of the page, and of the page.
using PartStrengths = std::array<double, 4>;

class LineMeter {
 public:
  virtual ~LineMeter() = default;
  /// Takes a page, which must live until the next one is taken.
  /// @param squeeze   how many times smaller the columns of the page are than its rows
  /// @param steepest  degrees, the largest angle that is asked for
  virtual void take(const ByColumns &page, int squeeze, double steepest) = 0;
  /// The same with the differences of a reduced copy of a page, which it keeps.
  void take_slopes(const Image &copy, int squeeze, double steepest) {
    slopes_.measure(copy);
    take(slopes_, squeeze, steepest);
  }
  /// @param angles  degrees counter-clockwise
  /// @param around  lines to either side of a strongest one that are left out with it
  virtual std::vector<HalfStrengths> halves(const std::vector<double> &angles, int around) = 0;
  virtual std::vector<PartStrengths> parts(const std::vector<double> &angles) = 0;

 private:
  Slopes slopes_;
};

class CpuLineMeter : public LineMeter {
 public:
  void take(const ByColumns &page, int squeeze, double steepest) override;
  std::vector<HalfStrengths> halves(const std::vector<double> &angles, int around) override;
  std::vector<PartStrengths> parts(const std::vector<double> &angles) override;

 private:
  std::optional<Profiles> profiles_;
};

}  // namespace cudascan::scan
