// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The paper of pages in gray or colour: its border of the scanner goes, its light gets even.
#pragma once
#include <cstdint>
#include <vector>

#include "border.h"
#include "levels.h"
#include "light.h"
#include "pictures.h"

namespace cudascan::scan {

/// It keeps its memory for the next page.
class PageTone {
 public:
  /// Gives the border the levels of the paper next to it.
  /// @param border  of this page, which was not turned since
  void whiten_border(PageLevels &page, const Border &border);
  /// Divides the levels of each plane by those of the paper around, so that paper becomes white.
  /// @param parts  of the page, which count as paper like that around them
  void even_light(PageLevels &page, const KeptParts &parts);

 private:
  EvenLight light_;
  Image reduced_;
  std::vector<std::uint8_t> marked_;
};

/// Gives marked cells the level of the brightest of the others within two cells of the nearest one.
/// @param marked  1 = cells that are not paper
/// @return false if all cells are marked; then nothing changes
bool fill_from_outside(Image &cells, const std::vector<std::uint8_t> &marked);

}  // namespace cudascan::scan
