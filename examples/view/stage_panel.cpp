// SPDX-License-Identifier: LGPL-2.1-or-later
#include "stage_panel.h"

#include <stdexcept>

namespace cudascan::view {

StagePanel::StagePanel(Player &player, std::size_t place,
                       std::function<void(const std::string &)> on_refused)
    : player_(player),
      place_(place),
      on_refused_(std::move(on_refused)),
      box_(gtk_box_new(GTK_ORIENTATION_VERTICAL, 4)),
      words_(gtk_label_new("")),
      controls_(player, place, on_refused_) {
  gtk_container_set_border_width(GTK_CONTAINER(box_), 6);
  gtk_label_set_xalign(GTK_LABEL(words_), 0);
  gtk_label_set_line_wrap(GTK_LABEL(words_), TRUE);
  gtk_label_set_width_chars(GTK_LABEL(words_), 10);
  gtk_label_set_max_width_chars(GTK_LABEL(words_), 10);
  gtk_style_context_add_class(gtk_widget_get_style_context(words_), "dim-label");
  gtk_widget_set_tooltip_text(words_, "What the element has measured");
  gtk_box_pack_start(GTK_BOX(box_), make_head(), FALSE, FALSE, 0);
  add_presets();
  gtk_box_pack_start(GTK_BOX(box_), controls_.widget(), FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(box_), words_, FALSE, FALSE, 0);
}

void StagePanel::run(const std::function<void()> &change) {
  try {
    change();
  } catch (const std::exception &error) {
    on_refused_(error.what());
  }
}

GtkWidget *StagePanel::make_head() {
  GtkWidget *elements = gtk_combo_box_text_new();
  for (const std::string &name : element_names())
    gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(elements), name.c_str(), name.c_str());
  gtk_combo_box_set_active_id(GTK_COMBO_BOX(elements), player_.chain()[place_].element.c_str());
  gtk_widget_set_tooltip_text(
      elements, gst_element_class_get_metadata(GST_ELEMENT_GET_CLASS(player_.element(place_)),
                                               GST_ELEMENT_METADATA_DESCRIPTION));
  atk_object_set_name(gtk_widget_get_accessible(elements), "element");
  g_signal_connect(elements, "changed", G_CALLBACK(+[](GtkComboBox *combo, StagePanel *self) {
                     const std::string name = gtk_combo_box_get_active_id(combo);
                     self->run([&] { self->player_.use(self->place_, name); });
                   }),
                   this);
  GtkWidget *remove = gtk_button_new_from_icon_name("list-remove-symbolic", GTK_ICON_SIZE_BUTTON);
  gtk_widget_set_tooltip_text(remove, "Remove this element");
  gtk_widget_set_sensitive(remove, player_.chain().size() > 1);
  g_signal_connect(remove, "clicked", G_CALLBACK(+[](GtkButton *, StagePanel *self) {
                     self->run([&] { self->player_.remove(self->place_); });
                   }),
                   this);
  GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4);
  gtk_box_pack_start(GTK_BOX(head), elements, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(head), remove, FALSE, FALSE, 0);
  return head;
}

void StagePanel::add_presets() {
  GstElement *const element = player_.element(place_);
  g_auto(GStrv) names =
      GST_IS_PRESET(element) ? gst_preset_get_preset_names(GST_PRESET(element)) : nullptr;
  if (!names || !*names) return;
  GtkWidget *presets = gtk_combo_box_text_new();
  gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(presets), nullptr, "Choose a preset");
  std::string tip;
  for (gchar **name = names; *name; ++name) {
    gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(presets), *name, *name);
    g_autofree gchar *comment = nullptr;
    gst_preset_get_meta(GST_PRESET(element), *name, "comment", &comment);
    tip += (tip.empty() ? "" : "\n") + std::string(*name) + (comment ? ": " : "") +
           (comment ? comment : "");
  }
  gtk_combo_box_set_active(GTK_COMBO_BOX(presets), 0);
  gtk_widget_set_tooltip_text(presets, tip.c_str());
  atk_object_set_name(gtk_widget_get_accessible(presets), "preset");
  // Long names must not widen the window.
  g_autoptr(GList) cells = gtk_cell_layout_get_cells(GTK_CELL_LAYOUT(presets));
  for (GList *cell = cells; cell; cell = cell->next)
    g_object_set(cell->data, "ellipsize", PANGO_ELLIPSIZE_END, nullptr);
  g_signal_connect(presets, "changed", G_CALLBACK(+[](GtkComboBox *combo, StagePanel *self) {
                     if (const gchar *name = gtk_combo_box_get_active_id(combo))
                       self->run([&] { self->player_.load_preset(self->place_, name); });
                   }),
                   this);
  gtk_box_pack_start(GTK_BOX(box_), presets, FALSE, FALSE, 0);
}

void StagePanel::update() {
  controls_.update();
  const bool measured = place_ < player_.measured().size();
  gtk_label_set_text(GTK_LABEL(words_), measured ? player_.measured()[place_].words.c_str() : "");
}

}  // namespace cudascan::view
