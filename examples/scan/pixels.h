// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The pixels of a page in the memory where it is made, and what the steps measure and change
/// there. Results do not depend on the memory.
#pragma once
#include <algorithm>
#include <cstdint>

#include "image.h"

namespace cudascan::scan {

/// The means of the outermost pixels of a page, in cells along its edges: rows of top.width cells,
/// columns of left.height cells, 8 bits.
struct Edges {
  Image top, bottom, left, right;
};

/// Small copies of a page.
struct Copies {
  Image reduced;  ///< as of Pixels::reduce()
  Edges edges;
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
  /// Makes copies, and sets the content of the page if it is unknown.
  /// @param by_x  pixels of a cell along the edges, too; edges are a quarter as wide
  virtual void look(int by_x, int by_y, Copies &to) = 0;
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
  /// How wide edges are, in pixels.
  static int width_of_edges(int cell) { return std::max(1, cell / 4); }

  Image *page_;
};

/// The pixels of a page in host memory.
class HostPixels : public Pixels {
 public:
  using Pixels::Pixels;
  void reduce(int by_x, int by_y, Image &to) override;
  void look(int by_x, int by_y, Copies &to) override;
  void find_content() override;
  void fill(int cell, const Plane<const std::uint8_t> &marked,
            const Plane<const std::uint8_t> &levels) override;
  void divide(const Image &paper, int by) override;
};

}  // namespace cudascan::scan
