// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The pixels of a page in the memory where it is made, and what the steps measure and change
/// there. Results do not depend on the memory.
#pragma once
#include <cstdint>

#include "image.h"

namespace cudascan::scan {

/// The means of the outermost pixels of a page, in cells along its edges: rows of top.width cells,
/// columns of left.height cells, 8 bits.
struct Edges {
  Image top, bottom, left, right;
};

class Pixels {
 public:
  explicit Pixels(Image &page) : page_(&page) {}
  virtual ~Pixels() = default;
  Pixels(const Pixels &) = default;
  Pixels &operator=(const Pixels &) = default;

  /// What is known of the page. Its own pixels need not be those that the steps work on.
  const Image &page() const { return *page_; }
  /// As reduce() of reduce.h.
  virtual void reduce(int by_x, int by_y, Image &to) = 0;
  /// The means of the outermost pixels, rounded down, in the upper 8 bits of the format.
  /// @param cell   pixels along the edge
  /// @param lines  pixels away from it; neither is larger than the page
  virtual void reduce_edges(int cell, int lines, Edges &to) = 0;
  /// Sets the content of the page.
  virtual void find_content() = 0;
  /// Gives the marked cells of the page their level, in 8 bits. The last cells reach to its ends.
  /// @param cell    pixels on each side of a cell
  /// @param marked  a number for each cell, 0 = stays
  virtual void fill(int cell, const Plane<const std::uint8_t> &marked,
                    const Plane<const std::uint8_t> &levels) = 0;
  /// Divides the levels of the page by those of the paper, so that paper becomes white.
  /// @param paper  its level in blocks of `by` times `by` pixels, 8 bits; in between, gains are
  ///               interpolated
  virtual void divide(const Image &paper, int by) = 0;

 protected:
  Image *page_;
};

/// The pixels of a page in host memory.
class HostPixels : public Pixels {
 public:
  using Pixels::Pixels;
  void reduce(int by_x, int by_y, Image &to) override;
  void reduce_edges(int cell, int lines, Edges &to) override;
  void find_content() override;
  void fill(int cell, const Plane<const std::uint8_t> &marked,
            const Plane<const std::uint8_t> &levels) override;
  void divide(const Image &paper, int by) override;
};

}  // namespace cudascan::scan
