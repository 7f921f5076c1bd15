// SPDX-License-Identifier: LGPL-2.1-or-later
// Host code shared by the CPU and CUDA implementations of linear openings.
#include "kernels/base/refuse.h"
#include "kernels/linearopen.h"

namespace cudascan {
namespace {

void check_choices(const LinearOpenParams &p) {
  const auto check = [](const char *name, auto choice, auto last) {
    const int value = static_cast<int>(choice);
    if (value < 0 || value > static_cast<int>(last))
      refuse(name, " = ", value, ": must be from 0 to ", static_cast<int>(last));
  };
  check("operation", p.operation, LinearOpenOperation::black_hat);
  check("output", p.output, LinearOpenOutput::orientation);
  check("lines", p.lines, LinearOpenLines::invariant);
  check("algorithm", p.algorithm, LinearOpenAlgorithm::bartovsky_zones);
}

const char *name_of(LinearOpenAlgorithm algorithm) {
  return algorithm == LinearOpenAlgorithm::morard      ? "morard"
         : algorithm == LinearOpenAlgorithm::bartovsky ? "bartovsky"
                                                       : "bartovsky-zones";
}

}  // namespace

void validate(const LinearOpenParams &p) {
  check_choices(p);
  if (p.length < 1 || p.length > 4096)
    refuse("length = ", p.length, ": must be a number of pixels from 1 to 4096");
  // Written so that NaN is refused.
  if (!(p.angle >= -360 && p.angle <= 360))
    refuse("angle = ", p.angle, ": must be a number of degrees from -360 to 360");
  if (p.directions < 1 || p.directions > 1024)
    refuse("directions = ", p.directions, ": must be a number from 1 to 1024");
  if (!(p.span > 0 && p.span <= 180))
    refuse("span = ", p.span, ": must be a number of degrees above 0, up to 180");
  if (p.algorithm != LinearOpenAlgorithm::automatic && p.lines != LinearOpenLines::partition)
    refuse(
        "algorithm = ", name_of(p.algorithm),
        " with lines = invariant: this algorithm supports only lines = partition; choose lines = ",
        "partition or algorithm = auto");
}

std::vector<const char *> settings_in_use(const LinearOpenParams &p) {
  std::vector<const char *> names{"operation", "length", "angle", "directions"};
  if (p.directions > 1) names.push_back("span");
  names.insert(names.end(), {"output", "lines"});
  return names;
}

std::vector<double> directions_of(const LinearOpenParams &p) {
  const int steps = p.span == 180 || p.directions == 1 ? p.directions : p.directions - 1;
  std::vector<double> angles(p.directions);
  for (int i = 0; i < p.directions; ++i) angles[i] = p.angle + p.span * i / steps;
  return angles;
}

}  // namespace cudascan
