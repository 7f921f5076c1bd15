// SPDX-License-Identifier: LGPL-2.1-or-later
// Host code shared by the CPU and CUDA implementations of the local thresholds.
#include <cmath>

#include "kernels/base/refuse.h"
#include "kernels/nick/formula.h"

namespace cudascan {
namespace {

void check_window(const char *name, int side) {
  if (side < 3 || side > 1023 || side % 2 == 0)
    refuse(name, " = ", side, ": must be an odd number of pixels from 3 to 1023",
           side >= 3 && side < 1023 ? ", for instance " : "",
           side >= 3 && side < 1023 ? std::to_string(side + 1) : "");
}

}  // namespace

double nick_default_k(NickMethod method) {
  switch (method) {
    case NickMethod::nick:
      return -0.19;
    case NickMethod::niblack:
      return -0.2;
    case NickMethod::sauvola:
      return 0.5;
    case NickMethod::wolf:
      return 0.5;
    case NickMethod::bradley:
      return 0.15;
    case NickMethod::phansalkar:
      return 0.25;
  }
  refuse("method = ", static_cast<int>(method), ": no such method");
}

void validate(const NickParams &p) {
  check_window("window", p.window);
  if (p.window_width) check_window("window-width", p.window_width);
  if (p.window_height) check_window("window-height", p.window_height);
  const double k = k_in_use(p);
  if (!(std::abs(k) <= 2)) refuse("k = ", k, ": must be a number from -2 to 2");
  if (!(p.r >= 1 && p.r <= 1024)) refuse("r = ", p.r, ": must be a number from 1 to 1024");
  if (p.algorithm == NickAlgorithm::shared)
    for (int side : {nick::window_width(p), nick::window_height(p)})
      if (side > 15)
        refuse("algorithm = shared with window = ", side,
               ": this algorithm supports only windows of up to 15; choose a window of at most 15 "
               "or another algorithm");
}

std::vector<const char *> settings_in_use(const NickParams &p) {
  std::vector<const char *> names{"method"};
  if (p.window_width == 0 || p.window_height == 0) names.push_back("window");
  names.insert(names.end(), {"window-width", "window-height", "k"});
  if (p.method == NickMethod::sauvola || p.method == NickMethod::phansalkar) names.push_back("r");
  if (p.output == NickOutput::binary) names.push_back("invert");
  names.push_back("output");
  return names;
}

namespace nick {

Formula make_formula(const NickParams &p, std::uint32_t maximum) {
  Formula f{};
  f.method = p.method;
  f.kn = std::llround(k_in_use(p) * kKd);
  f.rn = std::llround(p.r * kRd) << std::max(bit_depth(maximum) - 8, 0);
  f.maximum = maximum;
  return f;
}

}  // namespace nick

}  // namespace cudascan
