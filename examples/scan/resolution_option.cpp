// SPDX-License-Identifier: LGPL-2.1-or-later
#include "resolution_option.h"

#include <cmath>
#include <sstream>

namespace cudascan::scan {

void take_resolution(double dpi, const std::string &enlarge, Options &o) {
  o.steps.resolution_given = !std::isnan(dpi);
  if (o.steps.resolution_given) {
    if (!(dpi >= 30 && dpi <= 9600)) {
      std::ostringstream text;
      text << "--resolution=" << dpi << ": must be 30 to 9600 dpi";
      throw UsageError(text.str());
    }
    o.resolution = dpi;
  }
  o.steps.resolution = o.resolution;
  if (enlarge != "auto" && enlarge != "no")
    throw UsageError("--enlarge=" + enlarge + ": must be auto or no");
  o.steps.enlarge = enlarge == "auto";
}

}  // namespace cudascan::scan
