// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

namespace cudascan::scan {

/// Whether images are open books, which become two pages.
enum class Split {
  no,
  automatic,   ///< only if the image is surely an open book
  left_right,  ///< always
  right_left,  ///< always, and the right page comes first
};

/// "no" and so on.
inline const char *name_of(Split split) {
  return split == Split::no           ? "no"
         : split == Split::automatic  ? "auto"
         : split == Split::left_right ? "left-right"
                                      : "right-left";
}

/// What a page is of its image. The numbers are in journals.
enum class Part { whole = 0, left = 1, right = 2 };

/// Pages that an image can have.
inline constexpr int kMostPages = 2;

/// "" for the whole image.
inline const char *name_of(Part part) {
  return part == Part::left ? "left" : part == Part::right ? "right" : "";
}

/// Where an open book is folded: a straight line from top to bottom.
struct Gutter {
  enum class By {
    nothing,  ///< it is not known
    fold,     ///< its shadow
    gap,      ///< the paper between two blocks of text
  };
  double top = 0, bottom = 0;  ///< pixels from the left edge, at the edges of the image
  By by = By::nothing;
  std::string why_not;  ///< why it is not known, a few words

  double at(double y, int height) const { return top + (bottom - top) * y / height; }
};

/// "fold" and so on.
inline const char *name_of(Gutter::By by) {
  return by == Gutter::By::fold ? "fold" : by == Gutter::By::gap ? "gap" : "middle";
}

}  // namespace cudascan::scan
