// SPDX-License-Identifier: LGPL-2.1-or-later
// Host code shared by the CPU and CUDA implementations of binarization.
#include <climits>

#include "kernels/binarize/call.h"

namespace cudascan {
namespace {

template <typename E>
void check_enum(const char *name, E value, E last) {
  if (value < E{} || value > last)
    refuse(name, " = ", static_cast<int>(value), ": no such ", name, "; must be from 0 to ",
           static_cast<int>(last));
}

}  // namespace

void validate(const BinarizeParams &p) {
  check_enum("level", p.level, BinarizeLevel::full);
  check_enum("invert", p.invert, BinarizeInvert::off);
  check_enum("output", p.output, BinarizeOutput::darkness);
  if (!(p.smoothing >= 0 && p.smoothing <= 0.999))
    refuse("smoothing = ", p.smoothing, ": must be a number from 0 to 0.999");
  check_roi(p.roi, INT_MAX, INT_MAX);  // whatever the size of the plane
}

std::vector<const char *> settings_in_use(const BinarizeParams &) {
  return {"level", "invert", "output", "smoothing", "roi"};
}

namespace binarize {

void check_call(const BinarizeParams &params, int width, int height, bool deep_in, bool deep_out) {
  validate(params);
  check_roi(params.roi, width, height);
  if (params.output == BinarizeOutput::darkness && deep_in != deep_out)
    refuse("output = darkness with an input of ", deep_in ? 16 : 8, " and an output of ",
           deep_out ? 16 : 8,
           " bits a sample: both must have the same; choose output = binary or such an output");
}

BinarizeReport make_report(const BinarizeFound &found, std::uint64_t pixels, int darkest) {
  const double third = found.third_detail, limit = found.detail_level, level = 256.0 * darkest;
  BinarizeReport report;
  report.blank = found.blank;
  report.inverted = found.inverted;
  report.confidence = found.blank ? 1 - third / limit : 1 - limit / third;
  report.stroke_width = found.run / 256.0;
  report.threshold = found.threshold / level;
  report.paper_deviation = found.deviation / level;
  report.ink_darkness = static_cast<double>(found.ink_darkness) / darkest;
  report.ink_ratio = static_cast<double>(found.ink) / static_cast<double>(pixels);
  return report;
}

}  // namespace binarize
}  // namespace cudascan
