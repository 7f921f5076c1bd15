// SPDX-License-Identifier: LGPL-2.1-or-later
// Host code shared by the CPU and CUDA implementations of the sliding windows: makes windows from
// their names and checks combinations of settings.
#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "kernels/base/refuse.h"
#include "kernels/swofilter/polygons.h"
#include "kernels/swofilter/window.h"
#include "kernels/usercode/check.h"

namespace cudascan {
namespace swo {

namespace {

constexpr int kMostMaskSide = 31;

bool takes_any(SwoFilterOperator op) {
  return op == SwoFilterOperator::hit_or_miss;
}

/// @param with_any  whether cells may be `-`
Mask parse_mask(const std::string &text, bool with_any) {
  const auto bad = [&](const char *why) {
    refuse("shape = \"", text, "\": ", why,
           "; must be rectangle, ellipse, cross, octagon, hexagon, or rows of 0 and 1",
           with_any ? " and -" : "", " with ; between them, such as 010;111;010");
  };
  Mask mask{};
  int column = 0;
  for (const char c : text + ";") {
    switch (c) {
      case '0':
        mask.cells.push_back(Mask::off);
        ++column;
        break;
      case '1':
        mask.cells.push_back(Mask::on);
        ++column;
        break;
      case '-':
        if (!with_any) bad("only hit-or-miss and templates may have cells that are -");
        mask.cells.push_back(Mask::any);
        ++column;
        break;
      case ';':
        if (mask.height > 0 && column != mask.width) bad("its rows have different lengths");
        mask.width = column;
        ++mask.height;
        column = 0;
        break;
      default:
        bad("it is not a shape and contains characters that a mask cannot have");
    }
  }
  if (mask.width % 2 == 0 || mask.height % 2 == 0)
    bad("a mask needs an odd number of rows and columns");
  if (mask.width > kMostMaskSide || mask.height > kMostMaskSide)
    bad("a mask has at most 31 rows and columns");
  const int cells = mask.width * mask.height;
  mask.rectangle = mask.count() == cells;
  if (std::count(mask.cells.begin(), mask.cells.end(), with_any ? Mask::any : Mask::off) == cells)
    bad(with_any ? "a mask needs a cell that is 1 or 0" : "a mask needs a cell that is 1");
  return mask;
}

/// The masks of a `shape` that is not a name.
std::vector<Mask> parse_masks(const SwoFilterParams &p, bool several) {
  std::vector<Mask> masks;
  if (!several) {
    masks.push_back(parse_mask(p.shape, takes_any(p.op)));
    return masks;
  }
  std::istringstream words(p.shape);
  for (std::string word; words >> word;) masks.push_back(parse_mask(word, true));
  if (masks.empty()) parse_mask("", true);
  return masks;
}

bool thins(SwoFilterOperator op) {
  return op == SwoFilterOperator::thin || op == SwoFilterOperator::thicken;
}

std::vector<Mask> make_masks(const SwoFilterParams &p) {
  const int width = p.window_width ? p.window_width : p.window;
  const int height = p.window_height ? p.window_height : p.window;
  if (thins(p.op)) {
    if (p.thinning != SwoFilterThinning::templates || p.shape == "rectangle") return {};
    std::vector<Mask> masks = parse_masks(p, true);
    for (const Mask &mask : masks)
      if (mask.width != 3 || mask.height != 3)
        refuse("shape = \"", p.shape, "\": templates must have three rows of three cells");
    return masks;
  }
  const bool patterns = p.op == SwoFilterOperator::hit_or_miss;
  Mask shape;
  if (p.shape == "rectangle")
    shape = Mask::make_rectangle(width, height);
  else if (p.shape == "ellipse")
    shape = Mask::make_ellipse(width, height);
  else if (p.shape == "cross")
    shape = Mask::make_cross(width, height);
  else if (p.shape == "octagon")
    shape = make_octagon(width, height);
  else if (p.shape == "hexagon")
    shape = make_hexagon(width, height);
  else
    return parse_masks(p, patterns);
  // Named shapes contain only white cells; text masks may also contain black ones.
  if (patterns) std::replace(shape.cells.begin(), shape.cells.end(), Mask::off, Mask::any);
  return {shape};
}

void check_choices(const SwoFilterParams &p) {
  const auto check = [](const char *name, auto choice, auto last) {
    const int value = static_cast<int>(choice);
    if (value < 0 || value > static_cast<int>(last))
      refuse(name, " = ", value, ": must be from 0 to ", static_cast<int>(last));
  };
  check("operator", p.op, SwoFilterOperator::custom);
  check("border", p.border, SwoFilterBorder::constant);
  check("thinning", p.thinning, SwoFilterThinning::templates);
  check("marker", p.marker, SwoFilterMarker::border);
  check("algorithm", p.algorithm, SwoFilterAlgorithm::naive);
}

void check_window(const char *name, int side) {
  if (side < 1 || side > 255 || side % 2 == 0)
    refuse(name, " = ", side, ": must be an odd number of pixels from 1 to 255",
           side >= 1 && side < 255 ? ", for instance " : "",
           side >= 1 && side < 255 ? std::to_string(side + 1) : "");
}

void check_level(const char *name, int level, unsigned most) {
  if (level < 0 || static_cast<unsigned>(level) > most)
    refuse(name, " = ", level, ": must be a level from 0 to ", most,
           most == 0xffff ? "" : ", the largest one of this format");
}

/// Checks everything but `shape`, which make_masks() does.
void check_settings(const SwoFilterParams &p) {
  check_choices(p);
  check_window("window", p.window);
  if (p.window_width) check_window("window-width", p.window_width);
  if (p.window_height) check_window("window-height", p.window_height);
  check_level("border-value", p.border_value, 0xffff);
  if (!(p.percentile >= 0 && p.percentile <= 100))
    refuse("percentile = ", p.percentile, ": must be a number from 0 to 100");
  if (!(p.alpha >= 0 && p.alpha <= 0.5))
    refuse("alpha = ", p.alpha, ": must be a number from 0 to 0.5");
  if (p.iterations < 0)
    refuse("iterations = ", p.iterations, ": must be 0 (until nothing changes) or more");
  check_level("height", p.height, 0xffff);
  if (p.connectivity != 4 && p.connectivity != 8)
    refuse("connectivity = ", p.connectivity, ": must be 4 or 8");
  if (p.op == SwoFilterOperator::custom) gswo::check_filter(p.custom);
  const bool recursive =
      p.op == SwoFilterOperator::recursive_erode || p.op == SwoFilterOperator::recursive_dilate;
  if (recursive && (p.border == SwoFilterBorder::replicate || p.border == SwoFilterBorder::reflect))
    refuse("border = ", p.border == SwoFilterBorder::replicate ? "replicate" : "reflect",
           ": the recursive operators do not support this border; it must "
           "be clip or constant");
}

}  // namespace

FilterJob make_job(const SwoFilterParams &p, unsigned maximum, int in_width, int in_height,
                   int out_width, int out_height, bool same_depth) {
  check_settings(p);
  std::vector<Mask> masks = make_masks(p);
  check_sizes(in_width, in_height, out_width, out_height);
  if (!same_depth && !is_binary(p.op))
    refuse(
        "the output format must have the depth of the input format: only hit-or-miss, thin and "
        "thicken give black and white");
  FilterJob job{};
  job.op = p.op;
  job.masks = std::move(masks);
  job.border = p.border;
  job.maximum = maximum;
  job.shift = unused_low_bits(maximum);
  const unsigned levels = maximum >> job.shift;
  if (p.border == SwoFilterBorder::constant) {
    check_level("border-value", p.border_value, levels);
    job.outside = static_cast<unsigned>(p.border_value) << job.shift;
  }
  job.percentile = std::llround(p.percentile * 1e4);
  job.alpha = std::llround(p.alpha * 1e6);
  job.iterations = p.iterations;
  job.thinning = p.thinning;
  job.marker = p.marker;
  job.height = std::min(static_cast<unsigned>(p.height), levels) << job.shift;
  job.connectivity = p.connectivity;
  return job;
}

}  // namespace swo

bool is_binary(SwoFilterOperator op) {
  return op == SwoFilterOperator::hit_or_miss || swo::thins(op);
}

void validate(const SwoFilterParams &p) {
  swo::check_settings(p);
  swo::make_masks(p);
}

std::vector<const char *> settings_in_use(const SwoFilterParams &p) {
  using Op = SwoFilterOperator;
  std::vector<const char *> names{"operator"};
  const auto add = [&](auto... more) { (names.push_back(more), ...); };
  if (p.op == Op::custom) {
    add("expression", "source");
    if (!p.custom.source.empty()) add("function", "reload");
    add("params");
  }
  const bool geodesic = p.op >= Op::geodesic_erode && p.op <= Op::clear_border;
  if (geodesic) {
    const bool has_marker =
        p.op == Op::geodesic_erode || p.op == Op::geodesic_dilate || p.op == Op::reconstruct;
    if (has_marker) add("marker");
    if (p.op == Op::h_dome || p.op == Op::h_basin ||
        (has_marker && p.marker == SwoFilterMarker::shifted))
      add("height");
    add("connectivity", "iterations");
  } else if (swo::thins(p.op)) {
    add("thinning");
    if (p.thinning == SwoFilterThinning::templates) add("shape");
    add("iterations");
  } else {
    if (p.op == Op::rank) add("percentile");
    if (p.op == Op::alpha_trimmed_mean) add("alpha");
    // A mask given as text has its own size.
    const bool mask = !p.shape.empty() && std::string("01-").find(p.shape[0]) != std::string::npos;
    if (!mask && (p.window_width == 0 || p.window_height == 0)) add("window");
    if (!mask) add("window-width", "window-height");
    if (mask || p.op != Op::directional_median) add("shape");
    add("border");
    if (p.border == SwoFilterBorder::constant) add("border-value");
  }
  return names;
}

}  // namespace cudascan
