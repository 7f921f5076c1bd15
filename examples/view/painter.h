// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Paints a frame before and after the elements, side by side, on any surface of cairo.
#pragma once
#include <cairo.h>

#include <array>

#include "frame.h"

namespace cudascan::view {

/// Where the pixels of a frame appear: pixel (x, y) at (left + scale a x, top + scale y), where a
/// is Frame::pixel_aspect().
struct Placement {
  double left, top, scale;
};

class Painter {
 public:
  Painter() = default;
  ~Painter();
  Painter(const Painter &) = delete;
  Painter &operator=(const Painter &) = delete;

  /// Paints the part of the frame that lies in the area from (0, 0) to (width, height), with a
  /// divider and, where there is room, the labels "before" and "after".
  /// @param divider  where the input ends and the result begins, 0..1 of the frame's width
  void paint(cairo_t *cairo, const Frame &frame, const Placement &placement, double divider,
             int width, int height);

 private:
  struct Box {
    int x, y, width, height;
    bool operator==(const Box &) const = default;
  };
  /// Converts a part of frames of one format to a size in cairo's 32 bits a pixel.
  struct Side {
    GstVideoConverter *converter = nullptr;
    GstVideoInfo from{}, to{};
    Box part{};
  };

  /// @param scale_x  of columns; that of rows is in the placement
  void paint_side(cairo_t *cairo, Side &side, GstBuffer *buffer, const GstVideoInfo &info,
                  const Box &part, const Placement &placement, double scale_x);

  std::array<Side, 2> sides_{};
};

}  // namespace cudascan::view
