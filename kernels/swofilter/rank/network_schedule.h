// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// From a graph to a network.
#pragma once
#include <vector>

#include "kernels/swofilter/rank/network.h"
#include "kernels/swofilter/rank/network_graph.h"

namespace cudascan::swo::networks {

/// Puts the nodes that the answers need in an order, and their results in rows, which are used
/// again when nobody needs what is in them any more.
void schedule(const Graph &, const std::vector<Answer> &, Network &);

}  // namespace cudascan::swo::networks
