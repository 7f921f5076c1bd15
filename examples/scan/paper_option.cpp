// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paper_option.h"

#include <charconv>

namespace cudascan::scan {
namespace {

// ISO 216; ANSI/ASME Y14.1 and legal, in inches of 25.4 mm.
constexpr struct {
  const char *name;
  Paper paper;
} kPapers[] = {{"A3", {297, 420}},
               {"A4", {210, 297}},
               {"A5", {148, 210}},
               {"letter", {215.9, 279.4}},
               {"legal", {215.9, 355.6}}};
constexpr double kSmallest = 10, kLargest = 2000;

}  // namespace

bool find_paper(const std::string &text, Paper &paper) {
  for (const auto &known : kPapers)
    if (text == known.name) {
      paper = known.paper;
      return true;
    }
  const char *const end = text.data() + text.size();
  const auto width = std::from_chars(text.data(), end, paper.width);
  if (width.ec != std::errc() || width.ptr == end || *width.ptr != 'x') return false;
  const auto height = std::from_chars(width.ptr + 1, end, paper.height);
  if (height.ec != std::errc() || height.ptr != end) return false;
  const auto fits = [](double side) { return side >= kSmallest && side <= kLargest; };
  return fits(paper.width) && fits(paper.height);
}

}  // namespace cudascan::scan
