// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Turns a graph into a network.
#pragma once
#include <vector>

#include "kernels/swofilter/rank/network.h"
#include "kernels/swofilter/rank/network_graph.h"

namespace cudascan::swo::networks {

/// Orders the nodes that the answers need and assigns their results to rows. A row is reused when
/// its contents are no longer needed.
void schedule(const Graph &, const std::vector<Answer> &, Network &);

}  // namespace cudascan::swo::networks
