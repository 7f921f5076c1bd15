// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Patterns of black (0) and white (everything else).
///
/// **hit-or-miss**: white where the window's cells that are 1 lie on white and those that are 0 on
/// black; with several masks, where one of them fits. With clip nothing is asked of cells outside
/// of the image. A rectangle, ellipse or cross asks for white only; it is an erosion.
///
/// **thin** takes white pixels away until lines are left, in passes of parallel steps: in a step
/// all pixels that meet its condition go at once. With the neighbours p2 (above), p3, p4 (right),
/// ... p9 clockwise, and what is outside of the image black:
///
/// - zhang-suen (Zhang, Suen, Comm. ACM 27(3), 1984): 2 <= B <= 6, A = 1, and in the first step
///   p2 p4 p6 = p4 p6 p8 = 0, in the second p2 p4 p8 = p2 p6 p8 = 0, where B is the number of white
///   neighbours and A that of changes from black to white along p2, p3, ... p9, p2.
/// - guo-hall (Guo, Hall, Comm. ACM 32(3), 1989): C = 1, 2 <= min(N1, N2) <= 3, and in the first
///   step (p6 | p7 | !p9) & p8 = 0, in the second (p2 | p3 | !p5) & p4 = 0, where
///   C = !p2 & (p3 | p4) + !p4 & (p5 | p6) + !p6 & (p7 | p8) + !p8 & (p9 | p2),
///   N1 = (p9 | p2) + (p3 | p4) + (p5 | p6) + (p7 | p8), N2 = (p2 | p3) + (p4 | p5) + (p6 | p7) +
///   (p8 | p9).
/// - templates: step k takes what template k fits, which is each mask, then each mask turned by 90
///   degrees clockwise, by 180 and 270. Without masks these are Golay's L: "000;-1-;111
///   -00;110;-1-" (Serra, Image Analysis and Mathematical Morphology, 1982).
///
/// **thicken** thins the black with the white for its outside; what is outside of the image is
/// white.
///
/// A pass is both steps, or those of all templates. `iterations` counts passes, and the one in
/// which nothing changed any more.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// hit-or-miss, thin and thicken. For T and Out of 8 bit, of 16 bit, and of 16 and 8 bit.
template <typename T, typename Out>
void binary(Cpu &, Plane<const T> in, Plane<Out> out, const Job &, SwoFilterReport *);
template <typename T, typename Out>
void binary(Cuda &, Plane<const T> in, Plane<Out> out, const Job &, SwoFilterReport *);

}  // namespace cudascan::swo
