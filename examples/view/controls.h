// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A control for each property of an element, made from what the property says of itself.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>
#include <vector>

#include "player.h"

namespace cudascan::view {

class Controls {
 public:
  /// @param on_refused  called with a sentence when a property does not take a value
  Controls(Player &player, std::function<void(const std::string &)> on_refused);

  GtkWidget *widget() const { return box_; }
  /// Makes them anew for the element in use.
  void rebuild();
  /// Shows the values that the element has now.
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
