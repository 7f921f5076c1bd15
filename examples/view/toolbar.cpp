// SPDX-License-Identifier: LGPL-2.1-or-later
#include "toolbar.h"

namespace cudascan::view {
namespace {

constexpr double kZoomStep = 1.5;

/// Calls `f` when the signal is sent; the widget owns it.
void connect(GtkWidget *widget, const char *signal, std::function<void()> f) {
  g_signal_connect_data(
      widget, signal, G_CALLBACK(+[](GtkWidget *, std::function<void()> *f) { (*f)(); }),
      new std::function<void()>(std::move(f)),
      [](gpointer f, GClosure *) { delete static_cast<std::function<void()> *>(f); },
      static_cast<GConnectFlags>(0));
}

void set_icon(GtkWidget *button, const char *icon, const char *tip) {
  gtk_button_set_image(GTK_BUTTON(button),
                       gtk_image_new_from_icon_name(icon, GTK_ICON_SIZE_BUTTON));
  gtk_widget_set_tooltip_text(button, tip);
}

}  // namespace

Toolbar::Toolbar(Player &player, Canvas &canvas, Actions actions)
    : player_(player),
      canvas_(canvas),
      actions_(std::move(actions)),
      bar_(gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 4)),
      zoom_(gtk_label_new("")) {
  add(gtk_button_new_with_label("Open"), "Open a picture, a video or saved settings (Ctrl+O)",
      actions_.open_file);
  add(gtk_button_new_with_label("Test picture"), "Show a moving test picture", actions_.open_test);
  add_save();
  gtk_box_pack_start(GTK_BOX(bar_), gtk_separator_new(GTK_ORIENTATION_VERTICAL), FALSE, FALSE, 2);
  pause_ = add_icon("media-playback-pause-symbolic", "Pause (space)",
                    [this] { player_.pause(!player_.paused()); });
  add_icon("media-skip-forward-symbolic", "Next frame (.)", [this] { player_.step(); });
  gtk_box_pack_start(GTK_BOX(bar_), gtk_separator_new(GTK_ORIENTATION_VERTICAL), FALSE, FALSE, 2);
  add_icon("zoom-fit-best-symbolic", "Fit the frame to the window (f)", [this] { canvas_.fit(); });
  add_icon("zoom-original-symbolic", "One pixel for a pixel (1)", [this] { canvas_.zoom_to(1); });
  add_icon("zoom-out-symbolic", "Smaller (-)", [this] { canvas_.zoom_by(1 / kZoomStep); });
  add_icon("zoom-in-symbolic", "Larger (+)", [this] { canvas_.zoom_by(kZoomStep); });
  gtk_label_set_width_chars(GTK_LABEL(zoom_), 6);
  gtk_widget_set_tooltip_text(zoom_, "The wheel zooms, dragging moves the frame or the divider");
  gtk_box_pack_start(GTK_BOX(bar_), zoom_, FALSE, FALSE, 0);
  GtkWidget *plots = gtk_toggle_button_new_with_label("Plots");
  gtk_toggle_button_set_active(GTK_TOGGLE_BUTTON(plots), TRUE);
  gtk_widget_set_tooltip_text(plots, "Show or hide the plots");
  connect(plots, "toggled", [this, plots] {
    actions_.show_plots(gtk_toggle_button_get_active(GTK_TOGGLE_BUTTON(plots)));
  });
  gtk_box_pack_end(GTK_BOX(bar_), plots, FALSE, FALSE, 0);
}

GtkWidget *Toolbar::add(GtkWidget *button, const char *tip, std::function<void()> on_click) {
  gtk_widget_set_tooltip_text(button, tip);
  atk_object_set_name(gtk_widget_get_accessible(button), tip);
  connect(button, "clicked", std::move(on_click));
  gtk_box_pack_start(GTK_BOX(bar_), button, FALSE, FALSE, 0);
  return button;
}

GtkWidget *Toolbar::add_icon(const char *icon, const char *tip, std::function<void()> on_click) {
  return add(gtk_button_new_from_icon_name(icon, GTK_ICON_SIZE_BUTTON), tip, std::move(on_click));
}

void Toolbar::add_save() {
  GtkWidget *menu = gtk_menu_new();
  const auto item = [&](const char *text, const std::function<void()> &on_click) {
    GtkWidget *item = gtk_menu_item_new_with_label(text);
    connect(item, "activate", on_click);
    gtk_menu_shell_append(GTK_MENU_SHELL(menu), item);
  };
  item("Result as PNG\u2026", actions_.save_picture);
  item("Elements and settings\u2026", actions_.save_settings);
  gtk_widget_show_all(menu);
  GtkWidget *save = gtk_menu_button_new();
  gtk_button_set_label(GTK_BUTTON(save), "Save");
  gtk_widget_set_tooltip_text(save, "Save the result (Ctrl+S), or the elements and settings");
  gtk_menu_button_set_popup(GTK_MENU_BUTTON(save), menu);
  gtk_box_pack_start(GTK_BOX(bar_), save, FALSE, FALSE, 0);
}

void Toolbar::update() {
  const bool paused = player_.paused();
  const bool shown = g_strcmp0(gtk_widget_get_name(pause_), "paused") == 0;
  if (paused != shown) {
    set_icon(pause_, paused ? "media-playback-start-symbolic" : "media-playback-pause-symbolic",
             paused ? "Continue (space)" : "Pause (space)");
    gtk_widget_set_name(pause_, paused ? "paused" : "playing");
  }
  g_autofree gchar *percent =
      g_strdup_printf(canvas_.scale() < 0.1 ? "%.1f %%" : "%.0f %%", canvas_.scale() * 100);
  gtk_label_set_text(GTK_LABEL(zoom_), player_.frame() ? percent : "");
}

bool Toolbar::press(const GdkEventKey &key) {
  const bool control = key.state & GDK_CONTROL_MASK;
  if (control && key.keyval == GDK_KEY_o)
    actions_.open_file();
  else if (control && key.keyval == GDK_KEY_s)
    actions_.save_picture();
  else if (control)
    return false;
  else if (key.keyval == GDK_KEY_space)
    player_.pause(!player_.paused());
  else if (key.keyval == GDK_KEY_period)
    player_.step();
  else if (key.keyval == GDK_KEY_f)
    canvas_.fit();
  else if (key.keyval == GDK_KEY_1)
    canvas_.zoom_to(1);
  else if (key.keyval == GDK_KEY_plus)
    canvas_.zoom_by(kZoomStep);
  else if (key.keyval == GDK_KEY_minus)
    canvas_.zoom_by(1 / kZoomStep);
  else
    return false;
  return true;
}

}  // namespace cudascan::view
