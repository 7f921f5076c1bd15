// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A control for each property of an element, made from the property's own description.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>
#include <vector>

#include "player.h"

namespace cudascan::view {

class Controls {
 public:
  /// @param on_refused  called with a sentence when a property refuses a value
  Controls(Player &player, std::function<void(const std::string &)> on_refused);

  GtkWidget *widget() const { return box_; }
  /// Makes new controls for the current element.
  void rebuild();
  /// Shows the current values of the element.
  void refresh();

 private:
  struct Control {
    const GParamSpec *property;
    GtkWidget *widget;
    Controls *controls;
  };

  GtkWidget *make(Control &control);
  void show(const Control &control);
  void change(const Control &control, const std::string &text);

  Player &player_;
  std::function<void(const std::string &)> on_refused_;
  GtkWidget *box_, *grid_ = nullptr;
  std::vector<std::unique_ptr<Control>> controls_;
  bool showing_ = false;  // values are being shown, not changed
};

}  // namespace cudascan::view
