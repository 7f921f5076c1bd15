// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The window of the viewer.
#pragma once
#include <gtk/gtk.h>

#include <memory>
#include <string>

#include "controls.h"
#include "player.h"

namespace cudascan::view {

class Window {
 public:
  /// @param video  the widget of the player's sink
  Window(Player &player, GtkWidget *video);
  ~Window();

  /// Updates the window; call it about ten times a second.
  void update();
  bool closed() const { return closed_; }
  /// Writes what the window shows as PNG; returns false if that fails.
  bool save(const std::string &path) const;

 private:
  void show_trouble(const std::string &text);
  static gboolean draw(GtkWidget *widget, cairo_t *cairo, gpointer self);

  Player &player_;
  GtkWidget *window_, *info_, *trouble_, *elements_, *plots_, *line_, *words_;
  Controls controls_;
  std::string built_for_;
  bool closed_ = false;
};

}  // namespace cudascan::view
