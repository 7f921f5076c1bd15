// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Single cases of operators with one table of cases each, for tables and sweeps.
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
/// What NPP (an adaptive threshold by the mean, of 8 bit), and what OpenCV has like it; else nothing.
Peer nick_peer(bool cuda, Size size, int window, NickMethod method = NickMethod::nick);

/// Of the whole frame; with the baselines' formula for them.
Case equalize_case(Size size, EqualizeAlgorithm algorithm = EqualizeAlgorithm::automatic);

/// "otsu", "mcet prahara".
Case autothreshold_case(Size size, AutothresholdMethod method,
                        AutothresholdAlgorithm algorithm = AutothresholdAlgorithm::automatic);
/// OpenCV's threshold, which has otsu and triangle; else nothing.
Peer opencv_threshold(AutothresholdMethod method);

}  // namespace cudascan::bench
