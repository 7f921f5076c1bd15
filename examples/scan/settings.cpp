// SPDX-License-Identifier: LGPL-2.1-or-later
#include "settings.h"

#include <charconv>
#include <utility>

#include "decode_option.h"

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

/// What a PDF has in addition to its pages, if it was asked for.
void add_pdf(const Options &o, Line &line) {
  const PdfFacts &pdf = o.pdf;
  if (pdf.compression == Compression::jbig2) line.add("compression", std::string("jbig2"));
  for (const auto &[name, text] : {std::pair{"ocr", &o.ocr},
                                   {"title", &pdf.title},
                                   {"author", &pdf.author},
                                   {"subject", &pdf.subject},
                                   {"keywords", &pdf.keywords},
                                   {"language", &pdf.language}})
    if (!text->empty()) line.add(name, *text);
}

void add_outputs(const Outputs &outputs, Line &line) {
  if (outputs.mode != Mode::bw) line.add("mode", std::string(name_of(outputs.mode)));
  std::string also;
  for (const Also &kind : outputs.also) (also += also.empty() ? "" : ",") += kind.name();
  if (!also.empty()) line.add("also", also);
  if (outputs.makes_jpegs()) line.add("jpeg-quality", static_cast<double>(outputs.jpeg_quality));
}

}  // namespace

std::string settings_of(const Options &o) {
  Line line;
  line.add("format", o.format == Format::png ? std::string("png") : std::string("tiff"));
  add_outputs(o.outputs, line);
  if (o.steps.resolution_given) line.add("resolution", o.resolution);
  line.add("enlarge", std::string(o.steps.enlarge ? "auto" : "no"));
  line.add("salvage", o.salvage);
  // The pixels differ a little.
  if (o.decode != DecodeBy::cpu) line.add("decode", std::string(name_of(o.decode)));
  if (o.split != Split::no) line.add("split", std::string(name_of(o.split)));
  line.add("orientation", std::string(o.steps.upright ? "auto" : "keep"));
  line.add("dewarp", o.steps.dewarp);
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
  const bool uses_light = !std::holds_alternative<BinarizeParams>(o.steps.binarize);
  line.add("no-even-light", uses_light && !o.steps.even_light);
  line.add("method", o.method);
  if (const auto *local = std::get_if<NickParams>(&o.steps.binarize)) {
    if (!o.steps.scale_window) line.add("window", static_cast<double>(local->window));
    line.add("k", k_in_use(*local));
    line.add("r", local->r);
  }
  if (o.steps.despeckle != Steps::kByResolution)
    line.add("despeckle", static_cast<double>(o.steps.despeckle));
  add_pdf(o, line);
  return line.text;
}

}  // namespace cudascan::scan
