// SPDX-License-Identifier: LGPL-2.1-or-later
#include "method_option.h"

#include <cmath>

namespace cudascan::scan {
namespace {

constexpr struct {
  const char *name;
  NickMethod method;
} kLocalMethods[] = {{"nick", NickMethod::nick},       {"niblack", NickMethod::niblack},
                     {"sauvola", NickMethod::sauvola}, {"wolf", NickMethod::wolf},
                     {"bradley", NickMethod::bradley}, {"phansalkar", NickMethod::phansalkar}};

constexpr struct {
  const char *name;
  AutothresholdMethod method;
} kPageMethods[] = {{"otsu", AutothresholdMethod::otsu},
                    {"isodata", AutothresholdMethod::isodata},
                    {"mcet", AutothresholdMethod::mcet},
                    {"triangle", AutothresholdMethod::triangle},
                    {"max-entropy", AutothresholdMethod::max_entropy},
                    {"yen", AutothresholdMethod::yen},
                    {"li", AutothresholdMethod::li},
                    {"minimum", AutothresholdMethod::minimum},
                    {"intermodes", AutothresholdMethod::intermodes},
                    {"moments", AutothresholdMethod::moments},
                    {"huang", AutothresholdMethod::huang},
                    {"renyi-entropy", AutothresholdMethod::renyi_entropy},
                    {"shanbhag", AutothresholdMethod::shanbhag},
                    {"percentile", AutothresholdMethod::percentile},
                    {"mean", AutothresholdMethod::mean}};

}  // namespace

void take_method(const MethodOptions &g, Options &options) {
  const std::string &name = options.method = g.method;
  Steps &steps = options.steps;
  const bool has_window_settings = g.window != 0 || !std::isnan(g.k) || !std::isnan(g.r);
  if (name == "binarize") {
    if (has_window_settings)
      throw UsageError(
          "--window, --k and --r: --method=binarize measures the page and does not support them; "
          "add --method=nick or a related method");
    steps.binarize = BinarizeParams{};
    return;
  }
  for (const auto &local : kLocalMethods) {
    if (name != local.name) continue;
    NickParams params{.method = local.method};
    if (g.window != 0) params.window = g.window;
    steps.scale_window = g.window == 0;
    if (!std::isnan(g.k)) params.k = g.k;
    if (!std::isnan(g.r)) params.r = g.r;
    try {
      validate(params);
    } catch (const Error &error) {
      throw UsageError(std::string("--") + error.what());
    }
    steps.binarize = params;
    return;
  }
  for (const auto &page : kPageMethods) {
    if (name != page.name) continue;
    if (has_window_settings)
      throw UsageError(
          "--method=" + name +
          " uses one threshold for the page and does not support --window, --k and --r");
    steps.binarize = AutothresholdParams{.method = page.method};
    return;
  }
  throw UsageError("--method=" + name + ": must be one of those that --help lists");
}

}  // namespace cudascan::scan
