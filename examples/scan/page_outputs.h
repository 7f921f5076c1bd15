// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Outputs of a page in its own levels, with the angle, crop and size of the black and white page.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "encode.h"
#include "encode_levels.h"
#include "levels.h"
#include "outputs.h"
#include "page_tone.h"
#include "pictures.h"
#include "steps.h"

namespace cudascan::scan {

/// Where an image has to leave its colours while it is read; empty if no output needs them.
std::shared_ptr<PageLevels> colours_for(const Outputs &outputs, bool pinned);

/// A further file of a page.
struct AlsoFile {
  std::string suffix;  ///< ".gray.tif" and so on
  std::string bytes;
};

/// Makes the outputs of pages, one page at a time; it keeps its memory for the next page.
class PageOutputs {
 public:
  /// @param pinned  planes are copied to a GPU
  PageOutputs(const Outputs &outputs, bool pinned);

  /// Keeps the levels of a page that was read, before the cleaner changes them.
  void keep(const Image &page);
  /// The page itself, as --mode asks for it.
  /// @param bw       the page in black and white
  /// @param cleaner  has cleaned the page, and found that; `found` gets the mode
  /// @throws Error
  std::string page(const Image &bw, Format format, const Steps &steps, Findings &found,
                   Cleaner &cleaner);
  /// The files of --also: original levels, only turned and cut.
  /// @param bw       the page in black and white as it is written: they get its resolution
  /// @param cleaner  has cleaned the page, and found that
  /// @throws Error
  std::vector<AlsoFile> also(const Image &bw, const Steps &steps, Findings &found, Cleaner &cleaner,
                             const FileTags &tags);

 private:
  void follow(const Image &bw, const Findings &found, Cleaner &cleaner);
  const PageLevels &straight(bool colour, const Image &bw, const Steps &steps, Findings &found,
                             Cleaner &cleaner);
  void straighten(const PageLevels &from, const Steps &steps, Findings &found, Cleaner &cleaner,
                  PageLevels &to);

  void make_levels(const Image &bw, const Steps &steps, Findings &found, Cleaner &cleaner);
  void to_gray();
  Mode choose(const KeptParts &parts) const;
  std::string encode_levels(Format format) const;

  const Outputs outputs_;
  PageLevels gray_;                     ///< as it was read
  std::shared_ptr<PageLevels> colour_;  ///< as it was read, or nullptr for a gray page
  PageLevels straight_gray_, straight_colour_;
  Content content_ = Content::gray;  ///< of the page as it was read
  bool follows_ = false;             ///< whether follow() was called
  Image space_;
  PageTone tone_;
  Pictures pictures_;
  PageLevels bordered_;  ///< without its border
  PageLevels wide_;      ///< the same straight, with 16 bits
  PageLevels levels_;    ///< of the page as it is written, 8 bits
};

}  // namespace cudascan::scan
