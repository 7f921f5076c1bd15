// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// One element of the chain in the window: which one it is, its presets, controls and measurements.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>

#include "controls.h"
#include "player.h"

namespace cudascan::view {

class StagePanel {
 public:
  /// @param on_refused  called with a sentence when something cannot be done
  StagePanel(Player &player, std::size_t place,
             std::function<void(const std::string &)> on_refused);
  StagePanel(const StagePanel &) = delete;
  StagePanel &operator=(const StagePanel &) = delete;

  GtkWidget *widget() const { return box_; }
  void update();

 private:
  GtkWidget *make_head();
  void add_presets();
  void run(const std::function<void()> &change);

  Player &player_;
  const std::size_t place_;
  const std::function<void(const std::string &)> on_refused_;
  GtkWidget *const box_, *const words_;
  Controls controls_;
};

}  // namespace cudascan::view
