// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The window of the viewer.
#pragma once
#include <gtk/gtk.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "canvas.h"
#include "file_dialog.h"
#include "player.h"
#include "stage_panel.h"
#include "toolbar.h"

namespace cudascan::view {

class Window {
 public:
  /// Opens it, no larger than the screen.
  Window(Player &player, int width, int height);
  ~Window();
  Window(const Window &) = delete;
  Window &operator=(const Window &) = delete;

  /// Updates the window; call it about ten times a second.
  void update();
  bool closed() const { return closed_; }
  Canvas &canvas() { return canvas_; }
  /// Shows a message at the top, or none, and writes it to standard error.
  void show_trouble(const std::string &text);
  /// Answers dialogs, which have main loops of their own, so that the program can end.
  void end_dialogs();
  /// Writes what the window shows as PNG; returns false if that fails.
  bool save(const std::string &path) const;

 private:
  Toolbar::Actions actions();
  void run(const std::function<void()> &action);
  void ask_for_file();
  void open(const std::string &path);
  GtkWidget *make_message();
  GtkWidget *make_picture();
  GtkWidget *make_side();
  GtkWidget *make_bottom();
  void accept_files();
  void rebuild_panels();
  void lay_out();
  static gboolean on_draw_plots(GtkWidget *widget, cairo_t *cairo, gpointer self);
  static gboolean on_key(GtkWidget *widget, GdkEventKey *key, gpointer self);
  static void on_drop(GtkWidget *, GdkDragContext *, gint, gint, GtkSelectionData *data, guint,
                      guint, gpointer self);

  Player &player_;
  GtkWidget *const window_,
      *const info_, *const trouble_, *const stack_, *const nothing_, *const plots_,
                                                                         *const panels_,
                                                                             *const paned_,
                                                                                 *const line_;
  FileDialog dialog_;
  Canvas canvas_;
  Toolbar toolbar_;
  std::vector<std::unique_ptr<StagePanel>> stages_;
  std::vector<std::string> built_for_;
  bool closed_ = false;
  unsigned first_plot_ = 0;
  int laid_out_width_ = 0, laid_out_height_ = 0;
};

}  // namespace cudascan::view
