// SPDX-License-Identifier: LGPL-2.1-or-later
#include "window.h"

namespace cudascan::view {

Window::Window(Player &player, GtkWidget *video)
    : player_(player),
      window_(gtk_window_new(GTK_WINDOW_TOPLEVEL)),
      info_(gtk_info_bar_new()),
      trouble_(gtk_label_new("")),
      elements_(gtk_combo_box_text_new()),
      plots_(gtk_drawing_area_new()),
      line_(gtk_entry_new()),
      words_(gtk_label_new("")),
      controls_(player, [this](const std::string &text) { show_trouble(text); }) {
  gtk_window_set_title(GTK_WINDOW(window_), "cudascan-view");
  gtk_window_set_default_size(GTK_WINDOW(window_), 1400, 860);
  g_signal_connect(window_, "destroy",
                   G_CALLBACK(+[](GtkWidget *, Window *self) { self->closed_ = true; }), this);

  gtk_info_bar_set_message_type(GTK_INFO_BAR(info_), GTK_MESSAGE_WARNING);
  gtk_info_bar_set_show_close_button(GTK_INFO_BAR(info_), TRUE);
  gtk_label_set_line_wrap(GTK_LABEL(trouble_), TRUE);
  gtk_label_set_xalign(GTK_LABEL(trouble_), 0);
  gtk_label_set_selectable(GTK_LABEL(trouble_), TRUE);
  gtk_container_add(GTK_CONTAINER(gtk_info_bar_get_content_area(GTK_INFO_BAR(info_))), trouble_);
  gtk_widget_set_no_show_all(info_, TRUE);
  gtk_widget_show(trouble_);
  g_signal_connect(info_, "response",
                   G_CALLBACK(+[](GtkWidget *bar, gint, gpointer) { gtk_widget_hide(bar); }),
                   nullptr);

  for (const std::string &name : element_names())
    gtk_combo_box_text_append(GTK_COMBO_BOX_TEXT(elements_), name.c_str(), name.c_str());
  g_signal_connect(elements_, "changed", G_CALLBACK(+[](GtkComboBox *combo, Window *self) {
                     const gchar *name = gtk_combo_box_get_active_id(combo);
                     if (!name || self->player_.element_name() == name) return;
                     try {
                       self->player_.use(name);
                       gtk_widget_hide(self->info_);
                     } catch (const std::exception &error) {
                       self->show_trouble(error.what());
                     }
                   }),
                   this);

  gtk_widget_set_size_request(plots_, -1, 170);
  g_signal_connect(plots_, "draw", G_CALLBACK(draw), this);

  GtkWidget *left = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_set_size_request(video, 480, 270);
  gtk_box_pack_start(GTK_BOX(left), video, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(left), plots_, FALSE, FALSE, 0);

  GtkWidget *scrolled = gtk_scrolled_window_new(nullptr, nullptr);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_container_add(GTK_CONTAINER(scrolled), controls_.widget());
  gtk_label_set_xalign(GTK_LABEL(words_), 0);
  gtk_label_set_line_wrap(GTK_LABEL(words_), TRUE);
  GtkWidget *right = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  gtk_widget_set_size_request(right, 430, -1);
  gtk_widget_set_hexpand(right, FALSE);  // otherwise it expands like its contents
  gtk_box_pack_start(GTK_BOX(right), elements_, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(right), scrolled, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(right), words_, FALSE, FALSE, 0);

  GtkWidget *middle = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_box_pack_start(GTK_BOX(middle), left, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(middle), right, FALSE, FALSE, 0);

  gtk_editable_set_editable(GTK_EDITABLE(line_), FALSE);
  gtk_widget_set_tooltip_text(line_, "Shows the same without this program");
  GtkWidget *copy = gtk_button_new_with_label("Copy command");
  g_signal_connect(copy, "clicked", G_CALLBACK(+[](GtkButton *, Window *self) {
                     gtk_clipboard_set_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD),
                                            gtk_entry_get_text(GTK_ENTRY(self->line_)), -1);
                   }),
                   this);
  GtkWidget *bottom = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
  gtk_box_pack_start(GTK_BOX(bottom), line_, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(bottom), copy, FALSE, FALSE, 0);

  GtkWidget *all = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
  gtk_container_set_border_width(GTK_CONTAINER(all), 8);
  gtk_box_pack_start(GTK_BOX(all), info_, FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(all), middle, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(all), bottom, FALSE, FALSE, 0);
  gtk_container_add(GTK_CONTAINER(window_), all);

  player_.on_trouble = [this](const std::string &text) { show_trouble(text); };
  player_.on_settings = [this] { built_for_.clear(); };
  gtk_widget_show_all(window_);
}

Window::~Window() {
  player_.on_trouble = nullptr;
  player_.on_settings = nullptr;
  if (!closed_) gtk_widget_destroy(window_);
}

void Window::show_trouble(const std::string &text) {
  gtk_label_set_text(GTK_LABEL(trouble_), text.c_str());
  gtk_widget_set_visible(info_, !text.empty());
}

void Window::update() {
  player_.poll();
  if (closed_) return;
  if (built_for_ != player_.element_name()) {
    built_for_ = player_.element_name();
    gtk_combo_box_set_active_id(GTK_COMBO_BOX(elements_), built_for_.c_str());
    controls_.rebuild();
  }
  const std::string line = player_.launch_line();
  if (line != gtk_entry_get_text(GTK_ENTRY(line_))) {
    gtk_entry_set_text(GTK_ENTRY(line_), line.c_str());
    controls_.refresh();
  }
  gtk_label_set_text(GTK_LABEL(words_), player_.measured().words.c_str());
  gtk_widget_queue_draw(plots_);
}

gboolean Window::draw(GtkWidget *widget, cairo_t *cairo, gpointer user) {
  const Player &player = static_cast<Window *>(user)->player_;
  const Rectangle all{0, 0, double(gtk_widget_get_allocated_width(widget)),
                      double(gtk_widget_get_allocated_height(widget))};
  draw_plots(cairo, all, player.wipe().histogram(), player.measured(), player.times(),
             player.rate());
  return TRUE;
}

bool Window::save(const std::string &path) const {
  GdkWindow *window = gtk_widget_get_window(window_);
  g_autoptr(GdkPixbuf) pixels = gdk_pixbuf_get_from_window(
      window, 0, 0, gdk_window_get_width(window), gdk_window_get_height(window));
  return pixels && gdk_pixbuf_save(pixels, path.c_str(), "png", nullptr, nullptr);
}

}  // namespace cudascan::view
