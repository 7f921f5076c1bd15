// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Which kinds of output a run makes of each page.
#pragma once
#include <string>
#include <vector>

namespace cudascan::scan {

/// What pages are written as.
enum class Mode { bw, gray, color, mixed, automatic };

/// "bw" and so on.
inline const char *name_of(Mode mode) {
  constexpr const char *kNames[] = {"bw", "gray", "color", "mixed", "auto"};
  return kNames[static_cast<int>(mode)];
}

enum class FileKind { tiff, jp2, png, jpeg };

/// A further file of each page: its levels as they are in the input.
struct Also {
  bool colour = false;
  FileKind kind = FileKind::tiff;
  /// "gray.tif" and so on.
  std::string name() const {
    constexpr const char *kEnds[] = {".tif", ".jp2", ".png", ".jpg"};
    return (colour ? "color" : "gray") + std::string(kEnds[static_cast<int>(kind)]);
  }
  auto operator<=>(const Also &) const = default;
};

struct Outputs {
  Mode mode = Mode::bw;
  std::vector<Also> also;  ///< sorted
  int jpeg_quality = 85;   ///< 1..100
  bool in_pdf = false;     ///< pages are for a PDF
  bool operator==(const Outputs &) const = default;

  /// Whether the levels of the input are needed.
  bool need_levels() const { return mode != Mode::bw || !also.empty(); }
  bool need_colour() const {
    if (mode != Mode::bw && mode != Mode::gray) return true;
    for (const Also &kind : also)
      if (kind.colour) return true;
    return false;
  }
  bool makes_jpegs() const {
    if (mode != Mode::bw && in_pdf) return true;
    for (const Also &kind : also)
      if (kind.kind == FileKind::jpeg) return true;
    return false;
  }
  /// Ends of the names of further files: ".gray.tif" and so on.
  std::vector<std::string> suffixes() const {
    std::vector<std::string> ends;
    for (const Also &kind : also) ends.push_back('.' + kind.name());
    return ends;
  }
};

}  // namespace cudascan::scan
