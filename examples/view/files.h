// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Saves what is shown, and opens what was saved; needs no display.
#pragma once
#include <string>

#include "player.h"

namespace cudascan::view {

/// Writes a PNG with the frame to show, the plots, the measurements and the launch line.
/// @throws std::runtime_error when there is no frame or the file cannot be written
void save_view(const Player &player, double divider, const std::string &path);

/// Writes the result as a PNG of the frame's own size, with gray or colours of 8 bits.
/// @throws std::runtime_error when there is no frame or the file cannot be written
void save_result(const Player &player, const std::string &path);

/// Writes the elements and their settings to a file of that name, see is_chain_file(), and the
/// result to any other.
/// @throws std::runtime_error with a sentence
void save(const Player &player, const std::string &path);

/// Plays a file, or uses the elements and settings that were saved in it.
/// @throws std::runtime_error with a sentence
void open(Player &player, const std::string &path);

}  // namespace cudascan::view
