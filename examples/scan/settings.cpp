// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <charconv>

namespace cudascan::scan {
namespace {

/// " --name=value" for each setting.
class Line {
 public:
  void add(const char *name, const std::string &value) {
    text += (text.empty() ? "--" : " --") + std::string(name) + "=" + value;
  }
  /// The shortest text that gives the same number.
  void add(const char *name, double value) {
    add(name, std::string());
    append(value);
  }
  void append(double value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  /// An option without a value.
  void add(const char *name, bool given) {
    if (given) text += (text.empty() ? "--" : " --") + std::string(name);
  }
  std::string text;
};

}  // namespace

std::string settings_of(const Options &o) {
  Line line;
  line.add("format", o.format == Format::png ? std::string("png") : std::string("tiff"));
  line.add("resolution", o.resolution);
  line.add("salvage", o.salvage);
  line.add("orientation", std::string(o.steps.upright ? "auto" : "keep"));
  line.add("no-straighten", !o.steps.straighten);
  if (o.steps.straighten) {
    line.add("max-angle", o.steps.max_angle);
    line.add("min-confidence", o.steps.min_confidence);
  }
  line.add("borders", std::string(o.steps.whiten_border ? "white" : "keep"));
  line.add("blank", std::string(name_of(o.steps.blank)));
  line.add("crop", std::string(name_of(o.steps.crop)));
  if (o.steps.crop != Crop::no) line.add("margin", o.steps.margin);
  if (o.steps.paper.width > 0) {
    line.add("page-size", o.steps.paper.width);
    line.text += 'x';
    line.append(o.steps.paper.height);
  }
  line.add("no-even-light", !o.steps.even_light);
  line.add("method", o.method);
  if (const auto *local = std::get_if<NickParams>(&o.steps.binarize)) {
    line.add("window", static_cast<double>(local->window));
    line.add("k", k_in_use(*local));
    line.add("r", local->r);
  }
  line.add("despeckle", static_cast<double>(o.steps.despeckle));
  return line.text;
}

}  // namespace cudascan::scan
