// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Geodesic morphology: a marker grows under a mask, which is the input.
///
/// A pass of the geodesic dilation replaces each sample of the marker by the largest one of itself
/// and its 4 or 8 neighbours in the image, but by no more than the mask there; all pixels at once.
/// The geodesic erosion is its dual: the smallest one, but no less than the mask. Passes until
/// nothing changes are the morphological reconstruction (Vincent, "Morphological grayscale
/// reconstruction in image analysis", IEEE Trans. Image Processing 2(2), 1993).
///
/// | operator        | marker                     | grows by | result           |
/// |-----------------|----------------------------|----------|------------------|
/// | geodesic-dilate | as `marker` says           | dilation | the marker       |
/// | geodesic-erode  | as `marker` says           | erosion  | the marker       |
/// | reconstruct     | as geodesic-dilate         | dilation | the marker       |
/// | h-dome          | in - height                | dilation | in - the marker  |
/// | h-basin         | in + height                | erosion  | the marker - in  |
/// | fill-holes      | in on the edges, else the largest sample | erosion | the marker |
/// | clear-border    | in on the edges, else 0    | dilation | in - the marker  |
///
/// `marker` = shifted means in - height, at least 0, for dilations, and in + height, at most the
/// largest sample, for erosions; border means the same as in the table.
///
/// With `iterations` = n > 0, passes are made until one changes nothing, but at most n; the report
/// has their number, including the last one. With 0 the result is the same as after passes until
/// one changes nothing, but it is computed differently, and the report has 0.
#pragma once
#include "kernels/swofilter/window.h"

namespace cudascan::swo {

/// geodesic-erode, geodesic-dilate, reconstruct, h-dome, h-basin, fill-holes and clear-border.
template <typename T>
void geodesic(Cpu &, Plane<const T> in, Plane<T> out, const FilterJob &, SwoFilterReport *);
template <typename T>
void geodesic(Cuda &, Plane<const T> in, Plane<T> out, const FilterJob &, SwoFilterReport *);

}  // namespace cudascan::swo
