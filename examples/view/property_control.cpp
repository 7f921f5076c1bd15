// SPDX-License-Identifier: LGPL-2.1-or-later
#include "property_control.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <regex>

namespace cudascan::view {
namespace {

constexpr double kLongestSlider = 5000;  // a larger range is too coarse to hit a value by hand

std::string words_of(const GParamSpec *property) {
  const gchar *words = g_param_spec_get_blurb(const_cast<GParamSpec *>(property));
  return words ? words : "";
}

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

/// The unit that the description of a number names; "" if there is none.
std::string unit_of(const GParamSpec *property) {
  static const std::regex pattern(
      "^(Degrees|Levels?|Pixels)\\b|\\bin (pixels|levels|degrees)(?=,|;|$)|this many (levels)\\b");
  const std::string words = words_of(property);
  std::smatch found;
  if (!std::regex_search(words, found, pattern)) return "";
  const char first =
      static_cast<char>(g_ascii_tolower((found[1].str() + found[2].str() + found[3].str())[0]));
  return first == 'd' ? "degrees" : first == 'l' ? "levels" : "pixels";
}

/// Makes the wheel scroll the controls; it would change the value under the pointer by mistake.
void ignore_wheel(GtkWidget *widget) {
  g_signal_connect(widget, "scroll-event", G_CALLBACK(+[](GtkWidget *w, GdkEvent *, gpointer) {
                     g_signal_stop_emission_by_name(w, "scroll-event");
                     return FALSE;
                   }),
                   nullptr);
}

}  // namespace

PropertyControl::PropertyControl(const GParamSpec *property,
                                 std::function<void(const std::string &)> on_change,
                                 std::function<void()> on_reset)
    : property_(property),
      on_change_(std::move(on_change)),
      on_reset_(std::move(on_reset)),
      box_(gtk_box_new(GTK_ORIENTATION_VERTICAL, 0)),
      reset_(gtk_button_new_from_icon_name("edit-undo-symbolic", GTK_ICON_SIZE_MENU)) {
  GtkWidget *label = gtk_label_new(nullptr);
  Range range{};
  const std::string unit = range_of(property, range) ? unit_of(property) : "";
  g_autofree gchar *markup =
      unit.empty() ? g_markup_escape_text(property->name, -1)
                   : g_markup_printf_escaped("%s <small><span alpha=\"60%%\">%s</span></small>",
                                             property->name, unit.c_str());
  gtk_label_set_markup(GTK_LABEL(label), markup);
  gtk_label_set_xalign(GTK_LABEL(label), 0);
  gtk_button_set_relief(GTK_BUTTON(reset_), GTK_RELIEF_NONE);
  gtk_widget_set_tooltip_text(reset_, "Reset to the default");
  g_signal_connect(reset_, "clicked",
                   G_CALLBACK(+[](GtkButton *, PropertyControl *self) { self->on_reset_(); }),
                   this);
  GtkWidget *widget = make();
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
  gtk_box_pack_start(GTK_BOX(head), label, TRUE, TRUE, 0);
  gtk_box_pack_end(GTK_BOX(head), reset_, FALSE, FALSE, 0);
  // Only a slider or a text needs a row of its own.
  if (widget == value_ && (GTK_IS_SPIN_BUTTON(widget) || !GTK_IS_ENTRY(widget)))
    gtk_box_pack_end(GTK_BOX(head), widget, FALSE, FALSE, 0);
  else
    gtk_box_pack_end(GTK_BOX(box_), widget, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(box_), head, FALSE, FALSE, 0);
  gtk_widget_set_tooltip_text(box_, words_of(property).c_str());
  atk_object_set_name(gtk_widget_get_accessible(value_), property->name);
}

GtkWidget *PropertyControl::make() {
  Range range{};
  if (G_IS_PARAM_SPEC_ENUM(property_)) return make_choice();
  if (range_of(property_, range)) return make_number();
  if (!G_IS_PARAM_SPEC_BOOLEAN(property_)) return make_text();
  value_ = gtk_switch_new();
  gtk_widget_set_valign(value_, GTK_ALIGN_CENTER);
  g_signal_connect(value_, "notify::active",
                   G_CALLBACK(+[](GtkSwitch *on, GParamSpec *, PropertyControl *self) {
                     self->changed(gtk_switch_get_active(on) ? "true" : "false");
                   }),
                   this);
  return value_;
}

GtkWidget *PropertyControl::make_choice() {
  value_ = gtk_combo_box_text_new();
  const GEnumClass *values = G_PARAM_SPEC_ENUM(property_)->enum_class;
  for (guint i = 0; i < values->n_values; ++i)
    gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(value_), values->values[i].value_nick,
                              values->values[i].value_nick);
  g_signal_connect(value_, "changed", G_CALLBACK(+[](GtkComboBox *combo, PropertyControl *self) {
                     if (const gchar *nick = gtk_combo_box_get_active_id(combo))
                       self->changed(nick);
                   }),
                   this);
  ignore_wheel(value_);
  // Long names must not widen the window.
  g_autoptr(GList) cells = gtk_cell_layout_get_cells(GTK_CELL_LAYOUT(value_));
  g_object_set(cells->data, "ellipsize", PANGO_ELLIPSIZE_END, "width-chars", 12, nullptr);
  return value_;
}

GtkWidget *PropertyControl::make_number() {
  Range range{};
  range_of(property_, range);
  value_ = gtk_spin_button_new_with_range(range.least, range.most, range.step);
  gtk_spin_button_set_digits(GTK_SPIN_BUTTON(value_), static_cast<guint>(range.digits));
  gtk_entry_set_width_chars(GTK_ENTRY(value_), 5);
  gtk_entry_set_max_width_chars(GTK_ENTRY(value_), 8);
  g_signal_connect(value_, "value-changed",
                   G_CALLBACK(+[](GtkSpinButton *spin, PropertyControl *self) {
                     self->changed(number_text(self->property_, gtk_spin_button_get_value(spin)));
                   }),
                   this);
  ignore_wheel(value_);
  if (range.most - range.least > kLongestSlider) return value_;
  GtkWidget *slider = gtk_scale_new(GTK_ORIENTATION_HORIZONTAL,
                                    gtk_spin_button_get_adjustment(GTK_SPIN_BUTTON(value_)));
  gtk_scale_set_draw_value(GTK_SCALE(slider), FALSE);
  ignore_wheel(slider);
  GtkWidget *both = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
  gtk_box_pack_start(GTK_BOX(both), slider, TRUE, TRUE, 0);
  gtk_box_pack_end(GTK_BOX(both), value_, FALSE, FALSE, 0);
  return both;
}

GtkWidget *PropertyControl::make_text() {
  value_ = gtk_entry_new();
  gtk_entry_set_width_chars(GTK_ENTRY(value_), 8);
  const auto take =
      +[](GtkEntry *entry, PropertyControl *self) { self->changed(gtk_entry_get_text(entry)); };
  g_signal_connect(value_, "activate", G_CALLBACK(take), this);
  return value_;
}

void PropertyControl::show(const std::string &text, bool is_set) {
  showing_ = true;
  if (GTK_IS_COMBO_BOX(value_)) {
    gtk_combo_box_set_active_id(GTK_COMBO_BOX(value_), text.c_str());
    GEnumValue *value =
        g_enum_get_value_by_nick(G_PARAM_SPEC_ENUM(property_)->enum_class, text.c_str());
    const std::string tip =
        words_of(property_) + (value ? ".\n" + text + ": " + value->value_name : "");
    gtk_widget_set_tooltip_text(box_, tip.c_str());
  } else if (GTK_IS_SWITCH(value_)) {
    gtk_switch_set_active(GTK_SWITCH(value_), text == "true");
  } else if (GTK_IS_SPIN_BUTTON(value_)) {
    // What the user is typing stays.
    const double value = g_ascii_strtod(text.c_str(), nullptr);
    if (value != gtk_spin_button_get_value(GTK_SPIN_BUTTON(value_)))
      gtk_spin_button_set_value(GTK_SPIN_BUTTON(value_), value);
  } else if (!gtk_widget_has_focus(value_)) {
    gtk_entry_set_text(GTK_ENTRY(value_), text.c_str());
  }
  showing_ = false;
  gtk_widget_set_opacity(reset_, is_set ? 1 : 0);
  gtk_widget_set_sensitive(reset_, is_set);
}

}  // namespace cudascan::view
