// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings along lines, for the list of cases and for the tables.
#pragma once
#include "bench/cases.h"
#include "kernels/linearopen.h"

namespace cudascan::bench {

inline constexpr Size kTexture{640, 640, 8};  // of Karas et al., as the next two are
inline constexpr Size kFingerprint{784, 1133, 8};
inline constexpr Size kMusic{1000, 1411, 8};

inline constexpr LinearOpenAlgorithm kPublishedOpenings[] = {LinearOpenAlgorithm::morard,
                                                             LinearOpenAlgorithm::bartovsky,
                                                             LinearOpenAlgorithm::bartovsky_zones};
const char *name(LinearOpenAlgorithm algorithm);

/// A case with a name from its parameters: "opening 41 at 30 morard", "180 x 41 orientation". With
/// many directions, the name has no angle.
/// @param spectrum  also measure the report
Case linearopen_case(Size size, const LinearOpenParams &params, bool spectrum = false);

/// One opening.
Case opening_case(Size size, int length, double angle,
                  LinearOpenAlgorithm algorithm = LinearOpenAlgorithm::automatic);

/// OpenCV's equivalent: the largest of all openings by masks. For odd lengths it equals
/// LinearOpenLines::invariant; for even lengths its dilation would need a rotated mask.
Peer opencv_openings(const LinearOpenParams &params);

}  // namespace cudascan::bench
