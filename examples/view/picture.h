// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Draws what the window would show into a picture; needs no display.
#pragma once
#include <string>

#include "player.h"

namespace cudascan::view {

/// Writes a PNG with the last frame that the sink got, the plots, the settings and the launch line.
/// @throws std::runtime_error when there is no frame or the file cannot be written
void save_picture(const Player &player, GstElement *sink, const std::string &path);

}  // namespace cudascan::view
