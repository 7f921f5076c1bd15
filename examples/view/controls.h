// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The controls of one element: those of the picture first, technical ones folded away.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "player.h"
#include "property_control.h"

namespace cudascan::view {

class Controls {
 public:
  /// @param on_refused  called with a sentence when a property refuses a value
  Controls(Player &player, std::size_t place, std::function<void(const std::string &)> on_refused);
  Controls(const Controls &) = delete;
  Controls &operator=(const Controls &) = delete;

  GtkWidget *widget() const { return box_; }
  /// Shows the current values, and the controls for what the element uses with them. Not to be
  /// called from a signal of a control.
  void update();

 private:
  void rebuild();
  void show_values();
  bool is_set(const std::string &name) const;
  void run(const std::function<void()> &change);

  Player &player_;
  const std::size_t place_;
  const std::function<void(const std::string &)> on_refused_;
  GtkWidget *const box_, *const technical_;
  GtkWidget *rows_ = nullptr, *technical_rows_ = nullptr;
  std::vector<std::pair<std::string, Use>> uses_;  // that the controls were made for
  std::vector<std::unique_ptr<PropertyControl>> controls_;
};

}  // namespace cudascan::view
