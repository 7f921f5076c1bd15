// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Single cases of operators, for tables and sweeps.
#pragma once
#include <string>

#include "bench/cases.h"
#include "kernels/autothreshold.h"
#include "kernels/equalize.h"
#include "kernels/nick.h"

namespace cudascan::bench {

/// "nick 15", "sauvola 75", "nick 15 global-shared".
Case nick_case(Size size, int window, NickMethod method = NickMethod::nick,
               NickAlgorithm algorithm = NickAlgorithm::automatic);
/// Equivalents in NPP (adaptive threshold by the mean, 8 bits) and in OpenCV, if any.
Peer nick_peer(bool cuda, Size size, int window, NickMethod method = NickMethod::nick);

/// Equalization of the whole frame; baselines use their own formula.
Case equalize_case(Size size, EqualizeAlgorithm algorithm = EqualizeAlgorithm::automatic);

/// Counts of levels.
Case histogram_case(Size size);

/// "otsu", "mcet prahara".
Case autothreshold_case(Size size, AutothresholdMethod method,
                        AutothresholdAlgorithm algorithm = AutothresholdAlgorithm::automatic);
/// OpenCV's threshold, which supports otsu and triangle, if the method is one of these.
Peer opencv_threshold(AutothresholdMethod method);

}  // namespace cudascan::bench
