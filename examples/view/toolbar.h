// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The buttons at the top of the window.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>

#include "canvas.h"
#include "player.h"

namespace cudascan::view {

class Toolbar {
 public:
  /// What the buttons do that is not done by the player or the canvas.
  struct Actions {
    std::function<void()> open_file, open_test, save_picture, save_settings;
    std::function<void(bool)> show_plots;
  };
  Toolbar(Player &player, Canvas &canvas, Actions actions);
  Toolbar(const Toolbar &) = delete;
  Toolbar &operator=(const Toolbar &) = delete;

  GtkWidget *widget() const { return bar_; }
  void update();
  /// Handles a key; returns whether it means something.
  bool press(const GdkEventKey &key);

 private:
  GtkWidget *add(GtkWidget *button, const char *tip, std::function<void()> on_click);
  GtkWidget *add_icon(const char *icon, const char *tip, std::function<void()> on_click);
  void add_save();

  Player &player_;
  Canvas &canvas_;
  const Actions actions_;
  GtkWidget *const bar_, *const zoom_;
  GtkWidget *pause_ = nullptr;
};

}  // namespace cudascan::view
