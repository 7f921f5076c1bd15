// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Patterns of black (0) and white (everything else).
///
/// **hit-or-miss**: white where all of the window's cells that are 1 are on white and all that are
/// 0 are on black; with several masks, where one of them fits. With clip, cells outside the image
/// always fit. A rectangle, ellipse or cross contains only 1; it is an erosion.
///
/// **thin** removes white pixels until lines are left, in passes of parallel steps: a step removes
/// all pixels that meet its condition at once. The neighbours are p2 (above), p3, p4 (right), ...
/// p9 clockwise; outside the image is black:
///
/// - zhang-suen (Zhang, Suen, Comm. ACM 27(3), 1984): 2 <= B <= 6, A = 1, and in the first step
///   p2 p4 p6 = p4 p6 p8 = 0, in the second p2 p4 p8 = p2 p6 p8 = 0, where B is the number of white
///   neighbours and A the number of changes from black to white along p2, p3, ... p9, p2.
/// - guo-hall (Guo, Hall, Comm. ACM 32(3), 1989): C = 1, 2 <= min(N1, N2) <= 3, and in the first
///   step (p6 | p7 | !p9) & p8 = 0, in the second (p2 | p3 | !p5) & p4 = 0, where
///     C = !p2 & (p3 | p4) + !p4 & (p5 | p6) + !p6 & (p7 | p8) + !p8 & (p9 | p2),
///     N1 = (p9 | p2) + (p3 | p4) + (p5 | p6) + (p7 | p8),
///     N2 = (p2 | p3) + (p4 | p5) + (p6 | p7) + (p8 | p9).
/// - templates: step k removes the pixels that template k fits. The templates are the masks, then
///   the masks rotated by 90 degrees clockwise, by 180 and by 270. The default masks are Golay's L:
///   "000;-1-;111 -00;110;-1-" (Serra, Image Analysis and Mathematical Morphology, 1982).
///
/// **thicken** thins the black pixels instead of the white ones; outside the image is white.
///
/// A pass has both steps, or the steps of all templates. `iterations` counts passes, including the
/// last one, in which nothing changed.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// hit-or-miss, thin and thicken. T and Out have 8 and 8, 16 and 16, or 16 and 8 bits.
template <typename T, typename Out>
void binary(Cpu &, Plane<const T> in, Plane<Out> out, const FilterJob &, SwoFilterReport *);
template <typename T, typename Out>
void binary(Cuda &, Plane<const T> in, Plane<Out> out, const FilterJob &, SwoFilterReport *);

}  // namespace cudascan::swo
