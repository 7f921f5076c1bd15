// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Where the chroma of a result comes from.
#pragma once

namespace cudascan::elements {

/// A copy of the input's chroma, no colour, or colours that show the directions in its luma.
enum class Colour { of_input, none, of_directions };

/// For an operator without a tests/elements/<operator>.h.
template <typename Params>
Colour colour_of(const Params &) {
  return Colour::of_input;
}

}  // namespace cudascan::elements
