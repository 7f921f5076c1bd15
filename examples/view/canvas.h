// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The widget that shows the frame: the wheel zooms, dragging moves the divider or the frame.
#pragma once
#include <gtk/gtk.h>

#include <memory>

#include "painter.h"
#include "player.h"

namespace cudascan::view {

class Canvas {
 public:
  /// @param player  it must outlive the widget
  explicit Canvas(const Player &player);
  Canvas(const Canvas &) = delete;
  Canvas &operator=(const Canvas &) = delete;

  GtkWidget *widget() const { return area_; }

  void fit();                   ///< shows the whole frame
  void zoom_to(double scale);   ///< pixels of the screen for one of the frame; keeps the middle
  void zoom_by(double factor);  ///< keeps the middle
  double scale() const { return placement().scale; }
  bool fits() const { return fits_; }

  double divider() const { return divider_; }
  void set_divider(double share);

  /// Paints the view as it is now.
  void paint(cairo_t *cairo, int width, int height);

 private:
  enum class Drag { none, divider, frame };

  Placement placement() const;
  /// Of the frame, with square pixels.
  double frame_width() const { return shown_ ? shown_->width() * shown_->pixel_aspect() : 1; }
  double frame_height() const { return shown_ ? shown_->height() : 1; }
  void zoom_at(double x, double y, double scale);
  bool near_divider(double x) const;
  bool is_larger_than_view() const;
  void press(double x, double y);
  void move(double x, double y);

  static gboolean on_draw(GtkWidget *, cairo_t *cairo, gpointer self);
  static gboolean on_tick(GtkWidget *, GdkFrameClock *, gpointer self);
  static gboolean on_button(GtkWidget *, GdkEventButton *event, gpointer self);
  static gboolean on_motion(GtkWidget *, GdkEventMotion *event, gpointer self);
  static gboolean on_scroll(GtkWidget *, GdkEventScroll *event, gpointer self);

  const Player &player_;
  GtkWidget *const area_;
  Painter painter_;
  std::shared_ptr<const Frame> shown_;
  double divider_ = 0.5;
  bool fits_ = true;
  double scale_ = 1, middle_x_ = 0.5, middle_y_ = 0.5;  // unless it fits; shares of the frame
  Drag drag_ = Drag::none;
  double drag_x_ = 0, drag_y_ = 0;
};

}  // namespace cudascan::view
