// SPDX-License-Identifier: LGPL-2.1-or-later
#include "window.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>

#include "files.h"
#include "plots.h"

namespace cudascan::view {
namespace {

constexpr const char *kVideo = "video", *kNothing = "nothing";  // pages
constexpr int kBorder = 6, kLeastSide = 250, kMostSide = 420, kLeastPlots = 100, kMostPlots = 190;

/// Leaves more of the window to the picture.
constexpr const char *kStyle =
    "button, entry, spinbutton, combobox { min-height: 22px; padding: 1px 5px; }"
    "spinbutton, combobox { padding: 0; }"
    "spinbutton button { min-width: 16px; padding: 0 3px; }"
    "switch, switch slider { min-height: 20px; }"
    "scale { padding: 4px 8px; }";

void set_style() {
  GtkCssProvider *style = gtk_css_provider_new();
  gtk_css_provider_load_from_data(style, kStyle, -1, nullptr);
  gtk_style_context_add_provider_for_screen(gdk_screen_get_default(), GTK_STYLE_PROVIDER(style),
                                            GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
  g_object_unref(style);
}

GtkWidget *new_box(GtkOrientation orientation, int spacing) {
  return gtk_box_new(orientation, spacing);
}

/// A label whose text wraps and does not widen the window.
GtkWidget *new_wrapped() {
  GtkWidget *label = gtk_label_new("");
  gtk_label_set_line_wrap(GTK_LABEL(label), TRUE);
  gtk_label_set_line_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
  gtk_label_set_width_chars(GTK_LABEL(label), 20);
  return label;
}

/// The part of the screen that a window can have.
GdkRectangle work_area() {
  GdkRectangle area{0, 0, 640, 480};
  GdkDisplay *display = gdk_display_get_default();
  GdkMonitor *monitor = gdk_display_get_primary_monitor(display);
  if (!monitor) monitor = gdk_display_get_monitor(display, 0);
  if (monitor) gdk_monitor_get_workarea(monitor, &area);
  return area;
}

}  // namespace

Window::Window(Player &player, int width, int height)
    : player_(player),
      window_(gtk_window_new(GTK_WINDOW_TOPLEVEL)),
      info_(gtk_info_bar_new()),
      trouble_(new_wrapped()),
      stack_(gtk_stack_new()),
      nothing_(new_wrapped()),
      plots_(gtk_drawing_area_new()),
      panels_(new_box(GTK_ORIENTATION_VERTICAL, 4)),
      paned_(gtk_paned_new(GTK_ORIENTATION_HORIZONTAL)),
      line_(gtk_entry_new()),
      dialog_(window_),
      canvas_(player),
      toolbar_(player, canvas_, actions()) {
  set_style();
  const GdkRectangle screen = work_area();
  gtk_window_set_title(GTK_WINDOW(window_), "cudascan-view");
  gtk_window_set_default_size(GTK_WINDOW(window_), std::min(width, screen.width),
                              std::min(height, screen.height));
  g_signal_connect(window_, "destroy",
                   G_CALLBACK(+[](GtkWidget *, Window *self) { self->closed_ = true; }), this);
  g_signal_connect(window_, "key-press-event", G_CALLBACK(on_key), this);

  gtk_paned_pack1(GTK_PANED(paned_), make_picture(), TRUE, FALSE);
  gtk_paned_pack2(GTK_PANED(paned_), make_side(), FALSE, FALSE);
  GtkWidget *all = new_box(GTK_ORIENTATION_VERTICAL, 4);
  gtk_container_set_border_width(GTK_CONTAINER(all), kBorder);
  gtk_box_pack_start(GTK_BOX(all), toolbar_.widget(), FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(all), make_message(), FALSE, FALSE, 0);
  gtk_box_pack_start(GTK_BOX(all), paned_, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(all), make_bottom(), FALSE, FALSE, 0);
  gtk_container_add(GTK_CONTAINER(window_), all);
  accept_files();

  player_.on_trouble = [this](const std::string &text) { show_trouble(text); };
  player_.on_settings = [this] { built_for_.clear(); };
  gtk_widget_set_can_focus(canvas_.widget(), TRUE);
  gtk_widget_show_all(window_);
  gtk_widget_grab_focus(canvas_.widget());  // so that its keys work at once
}

Window::~Window() {
  player_.on_trouble = nullptr;
  player_.on_settings = nullptr;
  if (!closed_) gtk_widget_destroy(window_);
}

Toolbar::Actions Window::actions() {
  return {.open_file = [this] { ask_for_file(); },
          .open_test = [this] { run([this] { player_.open(test_source("ball")); }); },
          .save_picture =
              [this] {
                dialog_.ask_for_target("Save the result", "result.png", [this](auto &path) {
                  run([&] { view::save(player_, path); });
                });
              },
          .save_settings =
              [this] {
                dialog_.ask_for_target(
                    "Save elements and settings", "settings.cudascan", [this](auto &path) {
                      const std::string ending = is_chain_file(path) ? "" : kChainEnding;
                      run([&] { view::save(player_, path + ending); });
                    });
              },
          .show_plots = [this](bool shown) { gtk_widget_set_visible(plots_, shown); }};
}

void Window::run(const std::function<void()> &action) {
  try {
    action();
  } catch (const std::exception &error) {
    show_trouble(error.what());
  }
}

void Window::ask_for_file() {
  dialog_.ask([this](const std::string &path) { open(path); });
}

void Window::open(const std::string &path) {
  run([&] { view::open(player_, path); });
}

GtkWidget *Window::make_message() {
  gtk_info_bar_set_message_type(GTK_INFO_BAR(info_), GTK_MESSAGE_WARNING);
  gtk_info_bar_set_show_close_button(GTK_INFO_BAR(info_), TRUE);
  gtk_label_set_xalign(GTK_LABEL(trouble_), 0);
  gtk_label_set_selectable(GTK_LABEL(trouble_), TRUE);
  gtk_box_pack_start(GTK_BOX(gtk_info_bar_get_content_area(GTK_INFO_BAR(info_))), trouble_, TRUE,
                     TRUE, 0);
  gtk_widget_set_no_show_all(info_, TRUE);
  gtk_widget_show(trouble_);
  g_signal_connect(info_, "response",
                   G_CALLBACK(+[](GtkWidget *bar, gint, gpointer) { gtk_widget_hide(bar); }),
                   nullptr);
  return info_;
}

/// The frame, or what to do without one, above the plots.
GtkWidget *Window::make_picture() {
  GtkWidget *offer = new_box(GTK_ORIENTATION_VERTICAL, 12);
  gtk_widget_set_valign(offer, GTK_ALIGN_CENTER);
  gtk_label_set_justify(GTK_LABEL(nothing_), GTK_JUSTIFY_CENTER);
  gtk_box_pack_start(GTK_BOX(offer), nothing_, FALSE, FALSE, 0);
  GtkWidget *buttons = new_box(GTK_ORIENTATION_HORIZONTAL, 8);
  gtk_widget_set_halign(buttons, GTK_ALIGN_CENTER);
  const auto add = [&](const char *text, void (*on_click)(GtkButton *, Window *)) {
    GtkWidget *button = gtk_button_new_with_mnemonic(text);
    g_signal_connect(button, "clicked", G_CALLBACK(on_click), this);
    gtk_box_pack_start(GTK_BOX(buttons), button, FALSE, FALSE, 0);
  };
  add("_Open a file\u2026", [](GtkButton *, Window *self) { self->ask_for_file(); });
  add("_Test picture", [](GtkButton *, Window *self) {
    self->run([self] { self->player_.open(test_source("ball")); });
  });
  gtk_box_pack_start(GTK_BOX(offer), buttons, FALSE, FALSE, 0);
  gtk_stack_add_named(GTK_STACK(stack_), canvas_.widget(), kVideo);
  gtk_stack_add_named(GTK_STACK(stack_), offer, kNothing);

  gtk_widget_add_events(plots_, GDK_BUTTON_PRESS_MASK);
  gtk_widget_set_tooltip_text(plots_, "Click to begin with the next plot");
  g_signal_connect(plots_, "draw", G_CALLBACK(on_draw_plots), this);
  g_signal_connect(plots_, "button-press-event",
                   G_CALLBACK(+[](GtkWidget *, GdkEventButton *, Window *self) {
                     ++self->first_plot_;
                     return TRUE;
                   }),
                   this);
  GtkWidget *picture = new_box(GTK_ORIENTATION_VERTICAL, 4);
  gtk_box_pack_start(GTK_BOX(picture), stack_, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(picture), plots_, FALSE, FALSE, 0);
  return picture;
}

/// The controls of all elements, and a button that adds one.
GtkWidget *Window::make_side() {
  GtkWidget *menu = gtk_menu_new();
  for (const std::string &name : element_names()) {
    GtkWidget *item = gtk_menu_item_new_with_label(name.c_str());
    g_signal_connect(item, "activate", G_CALLBACK(+[](GtkMenuItem *item, Window *self) {
                       self->run([&] { self->player_.add(gtk_menu_item_get_label(item)); });
                     }),
                     this);
    gtk_menu_shell_append(GTK_MENU_SHELL(menu), item);
  }
  gtk_widget_show_all(menu);
  GtkWidget *add = gtk_menu_button_new();
  gtk_button_set_label(GTK_BUTTON(add), "Add an element");
  gtk_widget_set_tooltip_text(add, "Another element that works on the result");
  gtk_menu_button_set_popup(GTK_MENU_BUTTON(add), menu);

  GtkWidget *scrolled = gtk_scrolled_window_new(nullptr, nullptr);
  gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                 GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_overlay_scrolling(GTK_SCROLLED_WINDOW(scrolled), FALSE);
  gtk_container_add(GTK_CONTAINER(scrolled), panels_);
  GtkWidget *side = new_box(GTK_ORIENTATION_VERTICAL, 4);
  gtk_widget_set_size_request(side, kLeastSide, -1);
  gtk_box_pack_start(GTK_BOX(side), scrolled, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(side), add, FALSE, FALSE, 0);
  return side;
}

GtkWidget *Window::make_bottom() {
  gtk_editable_set_editable(GTK_EDITABLE(line_), FALSE);
  gtk_widget_set_tooltip_text(line_, "Shows the same without this program");
  GtkWidget *copy = gtk_button_new_with_label("Copy command");
  g_signal_connect(copy, "clicked", G_CALLBACK(+[](GtkButton *, Window *self) {
                     gtk_clipboard_set_text(gtk_clipboard_get(GDK_SELECTION_CLIPBOARD),
                                            gtk_entry_get_text(GTK_ENTRY(self->line_)), -1);
                   }),
                   this);
  GtkWidget *bottom = new_box(GTK_ORIENTATION_HORIZONTAL, 4);
  gtk_box_pack_start(GTK_BOX(bottom), line_, TRUE, TRUE, 0);
  gtk_box_pack_start(GTK_BOX(bottom), copy, FALSE, FALSE, 0);
  return bottom;
}

void Window::accept_files() {
  gtk_drag_dest_set(window_, GTK_DEST_DEFAULT_ALL, nullptr, 0, GDK_ACTION_COPY);
  gtk_drag_dest_add_uri_targets(window_);
  g_signal_connect(window_, "drag-data-received", G_CALLBACK(on_drop), this);
}

void Window::on_drop(GtkWidget *, GdkDragContext *, gint, gint, GtkSelectionData *data, guint,
                     guint, gpointer user) {
  auto &self = *static_cast<Window *>(user);
  g_auto(GStrv) uris = gtk_selection_data_get_uris(data);
  if (!uris || !*uris) return;
  g_autofree gchar *path = g_filename_from_uri(*uris, nullptr, nullptr);
  if (path)
    self.open(path);
  else
    self.show_trouble(std::string(*uris) + ": only files of this computer can be opened");
}

gboolean Window::on_key(GtkWidget *widget, GdkEventKey *key, gpointer user) {
  auto &self = *static_cast<Window *>(user);
  // Controls use the keys themselves.
  const GtkWidget *focus = gtk_window_get_focus(GTK_WINDOW(widget));
  const bool elsewhere = focus && focus != self.canvas_.widget();
  if (elsewhere && !(key->state & GDK_CONTROL_MASK)) return FALSE;
  return self.toolbar_.press(*key);
}

void Window::show_trouble(const std::string &text) {
  if (!text.empty()) std::fprintf(stderr, "cudascan-view: %s\n", text.c_str());
  if (closed_) return;
  gtk_label_set_text(GTK_LABEL(trouble_), text.c_str());
  // Without a frame, the message is in its place.
  gtk_widget_set_visible(info_, !text.empty() && !player_.failed());
  if (player_.failed()) gtk_label_set_text(GTK_LABEL(nothing_), text.c_str());
}

void Window::end_dialogs() {
  g_autoptr(GList) all = gtk_window_list_toplevels();
  for (GList *one = all; one; one = one->next)
    if (GTK_IS_DIALOG(one->data))
      gtk_dialog_response(GTK_DIALOG(one->data), GTK_RESPONSE_DELETE_EVENT);
}

void Window::rebuild_panels() {
  built_for_.clear();
  gtk_container_foreach(
      GTK_CONTAINER(panels_), [](GtkWidget *child, gpointer) { gtk_widget_destroy(child); },
      nullptr);
  stages_.clear();
  for (std::size_t i = 0; i < player_.chain().size(); ++i) {
    built_for_.push_back(player_.chain()[i].element);
    stages_.push_back(std::make_unique<StagePanel>(
        player_, i, [this](const std::string &text) { show_trouble(text); }));
    if (i > 0)
      gtk_box_pack_start(GTK_BOX(panels_), gtk_separator_new(GTK_ORIENTATION_HORIZONTAL), FALSE,
                         FALSE, 4);
    gtk_box_pack_start(GTK_BOX(panels_), stages_[i]->widget(), FALSE, FALSE, 0);
  }
  gtk_widget_show_all(panels_);
}

/// Divides a window of a new size: most of it is for the picture.
void Window::lay_out() {
  int width = 0, height = 0;
  gtk_window_get_size(GTK_WINDOW(window_), &width, &height);
  const bool wider = width != laid_out_width_;
  if (!wider && height == laid_out_height_) return;
  laid_out_width_ = width;
  laid_out_height_ = height;
  if (wider)
    gtk_paned_set_position(GTK_PANED(paned_),
                           width - 2 * kBorder - std::clamp(width * 3 / 10, kLeastSide, kMostSide));
  gtk_widget_set_size_request(plots_, -1, std::clamp(height / 5, kLeastPlots, kMostPlots));
}

void Window::update() {
  player_.poll();
  if (closed_) return;
  lay_out();
  const Chain &chain = player_.chain();
  const bool same =
      std::equal(chain.begin(), chain.end(), built_for_.begin(), built_for_.end(),
                 [](const Stage &stage, const std::string &name) { return stage.element == name; });
  if (!same) rebuild_panels();
  for (const auto &stage : stages_) stage->update();
  toolbar_.update();
  const bool nothing = player_.source().launch.empty();
  if (nothing) gtk_label_set_text(GTK_LABEL(nothing_), no_camera_text().c_str());
  gtk_stack_set_visible_child_name(GTK_STACK(stack_),
                                   nothing || player_.failed() ? kNothing : kVideo);
  const std::string line = player_.launch_line();
  if (line != gtk_entry_get_text(GTK_ENTRY(line_)))
    gtk_entry_set_text(GTK_ENTRY(line_), line.c_str());
  gtk_widget_queue_draw(plots_);
}

gboolean Window::on_draw_plots(GtkWidget *widget, cairo_t *cairo, gpointer user) {
  const auto &self = *static_cast<Window *>(user);
  const Player &player = self.player_;
  const Rectangle all{0, 0, double(gtk_widget_get_allocated_width(widget)),
                      double(gtk_widget_get_allocated_height(widget))};
  draw_plots(cairo, all, player.histogram(), player.measured(), player.times(), player.rate(),
             self.first_plot_);
  return TRUE;
}

bool Window::save(const std::string &path) const {
  GdkWindow *window = gtk_widget_get_window(window_);
  g_autoptr(GdkPixbuf) pixels = gdk_pixbuf_get_from_window(
      window, 0, 0, gdk_window_get_width(window), gdk_window_get_height(window));
  return pixels && gdk_pixbuf_save(pixels, path.c_str(), "png", nullptr, nullptr);
}

}  // namespace cudascan::view
