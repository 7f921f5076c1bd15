// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the angular spectrum of an image (LinearOpenReport) says about its direction.
#pragma once
#include "kernels/linearopen.h"

namespace cudascan::linearopen {

/// Fills in dominant_angle, confidence and blank from angles and spectrum.
/// @param pixels   of the image
/// @param maximum  the largest sample of its format, in the units of the spectrum
void analyse_spectrum(const LinearOpenParams &params, double pixels, double maximum,
                      LinearOpenReport &report);

}  // namespace cudascan::linearopen
