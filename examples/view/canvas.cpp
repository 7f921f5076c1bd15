// SPDX-License-Identifier: LGPL-2.1-or-later
#include "canvas.h"

#include <algorithm>
#include <cmath>

namespace cudascan::view {
namespace {

constexpr double kLeastScale = 1.0 / 64, kMostScale = 64, kZoomStep = 1.25;
constexpr double kGrip = 8;  // pixels next to the divider that take hold of it

}  // namespace

Canvas::Canvas(const Player &player) : player_(player), area_(gtk_drawing_area_new()) {
  gtk_widget_add_events(area_, GDK_BUTTON_PRESS_MASK | GDK_BUTTON_RELEASE_MASK |
                                   GDK_POINTER_MOTION_MASK | GDK_SCROLL_MASK);
  gtk_widget_set_size_request(area_, 160, 90);
  g_signal_connect(area_, "draw", G_CALLBACK(on_draw), this);
  g_signal_connect(area_, "button-press-event", G_CALLBACK(on_button), this);
  g_signal_connect(area_, "button-release-event", G_CALLBACK(on_button), this);
  g_signal_connect(area_, "motion-notify-event", G_CALLBACK(on_motion), this);
  g_signal_connect(area_, "scroll-event", G_CALLBACK(on_scroll), this);
  gtk_widget_add_tick_callback(area_, on_tick, this, nullptr);
}

Placement Canvas::placement() const {
  const double width = gtk_widget_get_allocated_width(area_);
  const double height = gtk_widget_get_allocated_height(area_);
  const double scale = fits_ ? std::min(width / frame_width(), height / frame_height()) : scale_;
  // What is smaller than the view is centred; what is larger leaves no margin.
  const auto begin = [&](double view, double frame, double middle) {
    if (frame * scale <= view) return std::round((view - frame * scale) / 2);
    return std::round(std::clamp(view / 2 - middle * frame * scale, view - frame * scale, 0.0));
  };
  return {begin(width, frame_width(), fits_ ? 0.5 : middle_x_),
          begin(height, frame_height(), fits_ ? 0.5 : middle_y_), scale};
}

void Canvas::fit() {
  fits_ = true;
  gtk_widget_queue_draw(area_);
}

void Canvas::zoom_at(double x, double y, double scale) {
  const Placement p = placement();
  const double width = gtk_widget_get_allocated_width(area_);
  const double height = gtk_widget_get_allocated_height(area_);
  fits_ = false;
  scale_ = std::clamp(scale, kLeastScale, kMostScale);
  // The pixel at (x, y) stays there.
  const double column = (x - p.left) / p.scale, row = (y - p.top) / p.scale;
  middle_x_ = std::clamp((column + (width / 2 - x) / scale_) / frame_width(), 0.0, 1.0);
  middle_y_ = std::clamp((row + (height / 2 - y) / scale_) / frame_height(), 0.0, 1.0);
  gtk_widget_queue_draw(area_);
}

void Canvas::zoom_to(double scale) {
  zoom_at(gtk_widget_get_allocated_width(area_) / 2.0, gtk_widget_get_allocated_height(area_) / 2.0,
          scale);
}

void Canvas::zoom_by(double factor) {
  zoom_to(placement().scale * factor);
}

void Canvas::set_divider(double share) {
  divider_ = std::clamp(share, 0.0, 1.0);
  gtk_widget_queue_draw(area_);
}

bool Canvas::near_divider(double x) const {
  const Placement p = placement();
  return std::abs(p.left + p.scale * divider_ * frame_width() - x) <= kGrip;
}

bool Canvas::is_larger_than_view() const {
  const double scale = placement().scale;
  return frame_width() * scale > gtk_widget_get_allocated_width(area_) + 1 ||
         frame_height() * scale > gtk_widget_get_allocated_height(area_) + 1;
}

void Canvas::press(double x, double y) {
  drag_ = near_divider(x) || !is_larger_than_view() ? Drag::divider : Drag::frame;
  drag_x_ = x;
  drag_y_ = y;
}

void Canvas::move(double x, double y) {
  const Placement p = placement();
  if (drag_ == Drag::divider) {
    set_divider((x - p.left) / (p.scale * frame_width()));
  } else if (drag_ == Drag::frame) {
    middle_x_ = std::clamp(middle_x_ - (x - drag_x_) / (p.scale * frame_width()), 0.0, 1.0);
    middle_y_ = std::clamp(middle_y_ - (y - drag_y_) / (p.scale * frame_height()), 0.0, 1.0);
    drag_x_ = x;
    drag_y_ = y;
    gtk_widget_queue_draw(area_);
  }
}

void Canvas::paint(cairo_t *cairo, int width, int height) {
  cairo_set_source_rgb(cairo, 0.05, 0.05, 0.05);
  cairo_paint(cairo);
  if (shown_) painter_.paint(cairo, *shown_, placement(), divider_, width, height);
}

gboolean Canvas::on_draw(GtkWidget *widget, cairo_t *cairo, gpointer self) {
  static_cast<Canvas *>(self)->paint(cairo, gtk_widget_get_allocated_width(widget),
                                     gtk_widget_get_allocated_height(widget));
  return TRUE;
}

gboolean Canvas::on_tick(GtkWidget *widget, GdkFrameClock *, gpointer user) {
  auto &self = *static_cast<Canvas *>(user);
  std::shared_ptr<const Frame> frame = self.player_.frame();
  // While another pipeline starts, the last frame stays.
  if (frame && frame != self.shown_) {
    self.shown_ = std::move(frame);
    gtk_widget_queue_draw(widget);
  }
  return G_SOURCE_CONTINUE;
}

gboolean Canvas::on_button(GtkWidget *widget, GdkEventButton *event, gpointer user) {
  auto &self = *static_cast<Canvas *>(user);
  if (event->button != GDK_BUTTON_PRIMARY) return FALSE;
  if (event->type == GDK_BUTTON_PRESS) {
    gtk_widget_grab_focus(widget);
    self.press(event->x, event->y);
    self.move(event->x, event->y);
  } else if (event->type == GDK_BUTTON_RELEASE) {
    self.drag_ = Drag::none;
  }
  return TRUE;
}

gboolean Canvas::on_motion(GtkWidget *widget, GdkEventMotion *event, gpointer user) {
  auto &self = *static_cast<Canvas *>(user);
  self.move(event->x, event->y);
  const bool divides = self.drag_ == Drag::divider || self.near_divider(event->x);
  const char *name = divides ? "col-resize" : self.is_larger_than_view() ? "grab" : "default";
  GdkCursor *cursor = gdk_cursor_new_from_name(gtk_widget_get_display(widget), name);
  gdk_window_set_cursor(gtk_widget_get_window(widget), cursor);
  if (cursor) g_object_unref(cursor);
  return TRUE;
}

gboolean Canvas::on_scroll(GtkWidget *, GdkEventScroll *event, gpointer user) {
  auto &self = *static_cast<Canvas *>(user);
  const double factor = event->direction == GDK_SCROLL_UP     ? kZoomStep
                        : event->direction == GDK_SCROLL_DOWN ? 1 / kZoomStep
                                                              : 1;
  self.zoom_at(event->x, event->y, self.placement().scale * factor);
  return TRUE;
}

}  // namespace cudascan::view
