// SPDX-License-Identifier: LGPL-2.1-or-later
#include "outputs_option.h"

#include <algorithm>
#include <sstream>

#include "encode_levels.h"

namespace cudascan::scan {
namespace {

Also also_of(const std::string &text) {
  for (const bool colour : {false, true})
    for (const FileKind kind : {FileKind::tiff, FileKind::jp2, FileKind::png, FileKind::jpeg})
      if (const Also also{colour, kind}; also.name() == text) return also;
  throw UsageError("--also=" + text +
                   ": must be gray or color and tif, jp2, png or jpg, such as gray.tif");
}

void take_also(char **lists, Options &o) {
  std::vector<Also> &also = o.outputs.also;
  for (char **list = lists; list && *list; ++list) {
    std::istringstream words(*list);
    std::string word;
    do {
      std::getline(words, word, ',');
      const Also kind = also_of(word);
      if (std::find(also.begin(), also.end(), kind) != also.end())
        throw UsageError("--also=" + word + ": is given twice");
      also.push_back(kind);
    } while (!words.eof());
  }
  std::sort(also.begin(), also.end());
  if (!also.empty() && o.kind == OutputKind::stream)
    throw UsageError("--also=" + also[0].name() +
                     ": standard output holds one file; name a folder or a file with -o");
}

}  // namespace

void take_outputs(const OutputsGiven &given, Options &o) {
  Outputs &outputs = o.outputs;
  outputs.in_pdf = o.kind == OutputKind::pdf;
  if (given.mode) {
    bool known = false;
    for (const Mode mode : {Mode::bw, Mode::gray, Mode::color, Mode::mixed, Mode::automatic})
      if (given.mode == std::string(name_of(mode))) {
        outputs.mode = mode;
        known = true;
      }
    if (!known)
      throw UsageError("--mode=" + std::string(given.mode) +
                       ": must be bw, gray, color, mixed or auto");
  }
  take_also(given.also, o);
  if (given.jpeg_quality == 0) return;
  const std::string quality = "--jpeg-quality=" + std::to_string(given.jpeg_quality);
  if (given.jpeg_quality < 1 || given.jpeg_quality > 100)
    throw UsageError(quality + ": must be 1 to 100");
  if (!outputs.makes_jpegs())
    throw UsageError(quality +
                     ": no JPEG is made; add --also=gray.jpg or color.jpg, or -o NAME.pdf "
                     "with --mode");
  outputs.jpeg_quality = given.jpeg_quality;
}

void check_writers(const Outputs &outputs) {
  for (const Also &kind : outputs.also)
    if (kind.kind == FileKind::jp2 && !can_encode_jp2())
      throw UsageError("--also=" + kind.name() +
                       ": this libvips has no JPEG 2000 (jp2ksave); use tif or png");
}

}  // namespace cudascan::scan
