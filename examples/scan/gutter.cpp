// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gutter.h"

#include "gap.h"

namespace cudascan::scan {

Gutter GutterFinder::find(const Image &page) {
  Gutter gutter;
  gutter.why_not = copy_.look(page);
  const int by = copy_.by();
  gutter.top = gutter.bottom =
      copy_.width() > 0 ? (copy_.left() + copy_.right()) / 2. * by : page.width / 2.;
  if (!gutter.why_not.empty()) return gutter;
  UprightLine line;
  if (fold_.find(copy_, line))
    gutter.by = Gutter::By::fold;
  else if (find_gap(copy_, line))
    gutter.by = Gutter::By::gap;
  else
    gutter.why_not = "no gutter was found";
  if (gutter.by == Gutter::By::nothing) return gutter;
  const double middle = copy_.middle_row();
  gutter.top = by * (line.middle + 0.5 - line.slope * middle);
  gutter.bottom = by * (line.middle + 0.5 + line.slope * (1. * page.height / by - middle));
  return gutter;
}

}  // namespace cudascan::scan
