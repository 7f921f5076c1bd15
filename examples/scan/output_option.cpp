// SPDX-License-Identifier: LGPL-2.1-or-later
#include "output_option.h"

#include <glib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "input.h"

namespace cudascan::scan {
namespace {

/// The extension in lower case, with the dot.
std::string extension_of(const std::string &name) {
  std::string end = std::filesystem::path(name).extension();
  std::transform(end.begin(), end.end(), end.begin(), [](char c) { return g_ascii_tolower(c); });
  return end;
}

}  // namespace

void take_output(const std::string &format, Options &o) {
  const bool is_folder = o.output.ends_with('/');
  while (o.output.size() > 1 && o.output.back() == '/') o.output.pop_back();
  const std::string end = extension_of(o.output);
  if (o.output == "-") {
    o.kind = OutputKind::stream;
  } else if (is_folder) {
    o.kind = OutputKind::folder;
  } else if (end == ".pdf" || end == ".tif" || end == ".tiff") {
    o.kind = end == ".pdf" ? OutputKind::pdf : OutputKind::tiff;
    if (!format.empty() && (end == ".pdf" || o.format != Format::tiff))
      throw UsageError("--format=" + format + ": a " +
                       (end == ".pdf" ? "PDF" : "TIFF file of all pages") +
                       " always uses CCITT group 4; leave out --format");
    o.format = Format::tiff;
  } else if (end == ".png") {
    o.kind = OutputKind::png;
    if (!format.empty() && o.format != Format::png)
      throw UsageError("--format=" + format + ": " + o.output +
                       " is a PNG file; leave out --format, or name a .tif file");
    o.format = Format::png;
  }
  constexpr std::array kOthers = {".jpg", ".jpeg", ".gif", ".bmp", ".webp",
                                  ".jp2", ".pnm",  ".pgm", ".pbm", ".ppm"};
  if (o.kind == OutputKind::folder && !is_folder && !std::filesystem::is_directory(o.output) &&
      std::find(kOthers.begin(), kOthers.end(), end) != kOthers.end())
    throw UsageError("--output=" + o.output +
                     ": pages are written as .tif, .png or .pdf; for a folder of this name add /");
}

void check_streams(Options &o, bool is_served) {
  const bool to_stream = o.kind == OutputKind::stream;
  const auto uses = std::count(o.inputs.begin(), o.inputs.end(), kStandardInput) +
                    (o.files_from == kStandardInput ? 1 : 0);
  if (is_served && (uses > 0 || to_stream))
    throw UsageError("-: standard input and output are those of --serve; name a file");
  if (uses > 1) throw UsageError("-: standard input can be read only once");
  if (to_stream && o.resume)
    throw UsageError("--resume: standard output has no finished pages; name a file or a folder");
  if (to_stream && !o.dry_run && isatty(STDOUT_FILENO))
    throw UsageError("--output=-: standard output is a terminal; redirect it to a file or program");
  if (!to_stream && o.kind != OutputKind::png) return;
  if (o.scan && o.scanner.pages != 1 && o.scanner.pages != -1)
    throw UsageError("--pages=" + std::to_string(o.scanner.pages) + ": " + one_page_only(o));
  if (o.scan) o.scanner.pages = 1;
}

std::string one_page_only(const Options &options) {
  return (options.kind == OutputKind::stream ? std::string("standard output") : options.output) +
         " holds one page; name a folder, NAME.tif or NAME.pdf for several";
}

}  // namespace cudascan::scan
