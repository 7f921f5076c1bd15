// SPDX-License-Identifier: LGPL-2.1-or-later
#include "controls.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace cudascan::view {
namespace {

bool is_odd_only(const GParamSpec *property) {
  return g_str_has_prefix(property->name, "window");
}

struct Range {
  double least, most, step;
  int digits;
};

/// Reads the range of a number; returns false for all other types.
bool range_of(const GParamSpec *property, Range &range) {
  if (G_IS_PARAM_SPEC_INT(property)) {
    const auto *p = G_PARAM_SPEC_INT(property);
    range = {double(p->minimum), double(p->maximum), 1, 0};
  } else if (G_IS_PARAM_SPEC_UINT(property)) {
    const auto *p = G_PARAM_SPEC_UINT(property);
    range = {double(p->minimum), double(p->maximum), 1, 0};
  } else if (G_IS_PARAM_SPEC_DOUBLE(property)) {
    const auto *p = G_PARAM_SPEC_DOUBLE(property);
    range = {p->minimum, p->maximum, 0, 2};
  } else {
    return false;
  }
  range.most = std::min(range.most, 1e9);  // what a control has room for
  if (range.step == 0) range.step = range.most - range.least <= 10 ? 0.01 : 0.5;
  if (is_odd_only(property)) range.step = 2;
  return true;
}

std::string number_text(const GParamSpec *property, double value) {
  if (is_odd_only(property)) {  // sliders stop anywhere
    const int whole = static_cast<int>(std::lround(value));
    return std::to_string(whole < 2 ? std::max(whole, 0) : whole | 1);
  }
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  if (G_IS_PARAM_SPEC_DOUBLE(property)) return g_ascii_formatd(text, sizeof text, "%.6g", value);
  return std::to_string(std::llround(value));
}

}  // namespace

Controls::Controls(Player &player, std::function<void(const std::string &)> on_refused)
    : player_(player),
      on_refused_(std::move(on_refused)),
      box_(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)) {}

void Controls::change(const Control &control, const std::string &text) {
  if (showing_) return;
  try {
    player_.set(control.property->name, text);
  } catch (const std::exception &error) {
    on_refused_(error.what());
  }
  refresh();
}

GtkWidget *Controls::make(Control &control) {
  const GParamSpec *p = control.property;
  Range range{};
  if (G_IS_PARAM_SPEC_ENUM(p)) {
    control.widget = gtk_combo_box_text_new();
    const GEnumClass *values = G_PARAM_SPEC_ENUM(p)->enum_class;
    for (guint i = 0; i < values->n_values; ++i)
      gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(control.widget), values->values[i].value_nick,
                                values->values[i].value_nick);
    g_signal_connect(control.widget, "changed", G_CALLBACK(+[](GtkComboBox *combo, Control *c) {
                       if (const gchar *nick = gtk_combo_box_get_active_id(combo))
                         c->controls->change(*c, nick);
                     }),
                     &control);
  } else if (G_IS_PARAM_SPEC_BOOLEAN(p)) {
    control.widget = gtk_switch_new();
    gtk_widget_set_halign(control.widget, GTK_ALIGN_START);
    g_signal_connect(control.widget, "notify::active",
                     G_CALLBACK(+[](GtkSwitch *on, GParamSpec *, Control *c) {
                       c->controls->change(*c, gtk_switch_get_active(on) ? "true" : "false");
                     }),
                     &control);
  } else if (range_of(p, range)) {
    control.widget = gtk_spin_button_new_with_range(range.least, range.most, range.step);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(control.widget), range.digits);
    gtk_entry_set_width_chars(GTK_ENTRY(control.widget), 6);
    g_signal_connect(
        control.widget, "value-changed", G_CALLBACK(+[](GtkSpinButton *spin, Control *c) {
          c->controls->change(*c, number_text(c->property, gtk_spin_button_get_value(spin)));
        }),
        &control);
    // A slider only if its range is small enough to hit a value by hand.
    if (range.most - range.least <= 5000) {
      GtkWidget *both = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
      GtkWidget *slider =
          gtk_scale_new(GTK_ORIENTATION_HORIZONTAL,
                        gtk_spin_button_get_adjustment(GTK_SPIN_BUTTON(control.widget)));
      gtk_scale_set_draw_value(GTK_SCALE(slider), FALSE);
      gtk_box_pack_start(GTK_BOX(both), slider, TRUE, TRUE, 0);
      gtk_box_pack_start(GTK_BOX(both), control.widget, FALSE, FALSE, 0);
      return both;
    }
    gtk_widget_set_halign(control.widget, GTK_ALIGN_END);
  } else {
    control.widget = gtk_entry_new();
    gtk_entry_set_width_chars(GTK_ENTRY(control.widget), 8);
    g_signal_connect(control.widget, "activate", G_CALLBACK(+[](GtkEntry *entry, Control *c) {
                       c->controls->change(*c, gtk_entry_get_text(entry));
                     }),
                     &control);
  }
  return control.widget;
}

void Controls::show(const Control &control) {
  const std::string text = text_of(player_.element(), control.property);
  if (GTK_IS_COMBO_BOX(control.widget))
    gtk_combo_box_set_active_id(GTK_COMBO_BOX(control.widget), text.c_str());
  else if (GTK_IS_SWITCH(control.widget))
    gtk_switch_set_active(GTK_SWITCH(control.widget), text == "true");
  else if (GTK_IS_SPIN_BUTTON(control.widget))
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(control.widget),
                              g_ascii_strtod(text.c_str(), nullptr));
  else
    gtk_entry_set_text(GTK_ENTRY(control.widget), text.c_str());
}

void Controls::refresh() {
  showing_ = true;
  for (const auto &control : controls_) show(*control);
  showing_ = false;
}

void Controls::rebuild() {
  if (grid_) gtk_widget_destroy(grid_);
  controls_.clear();
  grid_ = gtk_grid_new();
  gtk_grid_set_row_spacing(GTK_GRID(grid_), 4);
  gtk_grid_set_column_spacing(GTK_GRID(grid_), 8);
  gtk_container_set_border_width(GTK_CONTAINER(grid_), 8);
  int row = 0;
  showing_ = true;
  for (const GParamSpec *property : changeable_properties(player_.element())) {
    controls_.push_back(std::make_unique<Control>(Control{property, nullptr, this}));
    Control &control = *controls_.back();
    GtkWidget *label = gtk_label_new(property->name);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    GtkWidget *widget = make(control);
    gtk_widget_set_hexpand(widget, TRUE);
    GtkWidget *reset =
        gtk_button_new_from_icon_name("edit-undo-symbolic", GTK_ICON_SIZE_SMALL_TOOLBAR);
    gtk_button_set_relief(GTK_BUTTON(reset), GTK_RELIEF_NONE);
    gtk_widget_set_tooltip_text(reset,
                                ("Reset to " + default_text(player_.element(), property)).c_str());
    g_signal_connect(reset, "clicked", G_CALLBACK(+[](GtkButton *, Control *c) {
                       c->controls->change(
                           *c, default_text(c->controls->player_.element(), c->property));
                     }),
                     &control);
    for (GtkWidget *with_help : {label, control.widget})
      gtk_widget_set_tooltip_text(with_help,
                                  g_param_spec_get_blurb(const_cast<GParamSpec *>(property)));
    gtk_grid_attach(GTK_GRID(grid_), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid_), widget, 1, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid_), reset, 2, row++, 1, 1);
    show(control);
  }
  showing_ = false;
  gtk_container_add(GTK_CONTAINER(box_), grid_);
  gtk_widget_show_all(grid_);
}

}  // namespace cudascan::view
