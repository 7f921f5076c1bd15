// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// A control for a property, made from the property's own description.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <string>

namespace cudascan::view {

class PropertyControl {
 public:
  /// @param on_change  called with the new value as text when the user changes it
  /// @param on_reset   called when the user wants the default
  PropertyControl(const GParamSpec *property, std::function<void(const std::string &)> on_change,
                  std::function<void()> on_reset);
  PropertyControl(const PropertyControl &) = delete;
  PropertyControl &operator=(const PropertyControl &) = delete;

  const GParamSpec *property() const { return property_; }
  GtkWidget *widget() const { return box_; }
  /// Shows a value.
  /// @param is_set  whether it differs from the default, so that it can be reset
  void show(const std::string &text, bool is_set);

 private:
  GtkWidget *make();
  GtkWidget *make_choice();
  GtkWidget *make_number();
  GtkWidget *make_text();
  void changed(const std::string &text) {
    if (!showing_) on_change_(text);
  }

  const GParamSpec *const property_;
  const std::function<void(const std::string &)> on_change_;
  const std::function<void()> on_reset_;
  GtkWidget *const box_, *const reset_;
  GtkWidget *value_ = nullptr;  // shows the value
  bool showing_ = false;        // values are being shown, not changed
};

}  // namespace cudascan::view
