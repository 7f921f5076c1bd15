// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Cuts pages and puts them on sheets of a size that was asked for.
#pragma once
#include "border.h"
#include "image.h"
#include "ink.h"
#include "steps.h"

namespace cudascan::scan {

/// The part of the page that the steps ask for, with its margin, in pixels of the straightened page
/// and never beyond it. Without border or ink it is the whole page.
/// @param angle  by which the page was turned back, degrees counter-clockwise
/// @param ink    of this page if Steps::crop is content
Box crop_box(const Image &page, double angle, const Steps &steps, const Border &border,
             const Ink &ink);

/// Copies a part of a page in black and white. With a size of paper the part is in the middle of a
/// white page of that size, at the resolution of the page; its parts are cut evenly on both sides
/// as far as they are white.
/// @throws Error when ink does not fit on the paper, and for pages of more than 32768 pixels a side
void cut(const Image &from, const Box &box, const Paper &paper, Image &to);

/// The same for a page in levels: what does not fit on the paper is cut away, whatever it is.
/// @throws Error for pages of more than 32768 pixels a side
void cut_levels(const Image &from, const Box &box, const Paper &paper, Image &to);

}  // namespace cudascan::scan
