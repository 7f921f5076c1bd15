// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The command line of cudascan-view.
#pragma once
#include <stdexcept>
#include <string>
#include <vector>

#include "chain.h"
#include "source.h"

namespace cudascan::view {

/// What is wrong with the command line, in a sentence.
struct BadUsage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Something to do some time after the start.
struct Action {
  double after;  ///< seconds
  std::string name, value;
};

struct Options {
  SourceOptions source;
  Chain chain;
  std::string format = "GRAY8", picture, screenshot;
  std::vector<Action> actions;  ///< in the order of their times
  double divider = 0.5, seconds = 0;
  int frames = 0, width = 1400, height = 860;
  bool stats = false;
};

/// Also handles --help and --version, which end the program.
/// @throws BadUsage
Options parse_options(int &argc, char **&argv);

}  // namespace cudascan::view
