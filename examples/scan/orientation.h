// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Finds pages that lie on their side or upside down, and turns them by quarters.
///
/// Sideways: lines are measured as for straightening (straighten.h), along the rows and along the
/// columns. A page lies on its side if its lines along the columns are trusted and r of that
/// formula is more than twice that along the rows. Pages where neither is twice the other, such as
/// typewritten columns of single letters, stay as they are.
///
/// Upside down: in the Latin script, and in the Greek and Cyrillic ones, more letters rise above
/// the others (b d f h k l t, capitals) than reach below (g j p q y). This is the idea of D. S.
/// Bloomberg, G. E. Kopec and L. Dasari, "Measuring document image skew and orientation", SPIE
/// 2422, 1995. They count such letters by hit-or-miss transforms. Here the ink is summed along the
/// lines in eight strips of the page. The rows of a line that have more than half of its most ink
/// are its small letters; of the ink within 0.7 of their height, above - below, relative to the
/// ink of the small letters, is the line's vote. t = mean / standard error of all votes tells how
/// surely letters rise; confidence is t^2 / (t^2 + 16), and a page is turned from t = 4 on. Words
/// in capitals and figures have no vote worth anything, and pages with nothing else stay as they
/// are.
#pragma once
#include "image.h"
#include "steps.h"

namespace cudascan::scan {

/// How surely letters rise more often above than below their lines: above 0 if they do, below 0
/// for text upside down, near 0 without evidence.
/// @param copy    the page, with `squeeze` times fewer columns than rows, 8 bits
/// @param angle   of its lines, degrees counter-clockwise
double letters_rise(const Image &copy, int squeeze, double angle);

/// Turns a page clockwise.
/// @param degrees  90, 180 or 270
/// @param space    is changed
void turn_by_quarters(Image &page, int degrees, Image &space);

/// It keeps its memory for the next page.
class Upright {
 public:
  /// Turns the page if it is surely not upright. Sets found.orientation and what belongs to it.
  void turn(Image &page, Findings &found);

 private:
  Image reduced_, across_, space_;
};

}  // namespace cudascan::scan
