// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include "image.h"
#include "kernels/exec.h"

namespace cudascan::scan {

/// Evens out the light on pages: every level is divided by that of the paper around it, which is a
/// closing of a reduced copy by 21 mm, smoothed.
class EvenLight {
 public:
  /// Changes `page`. Resolution as the page says, else 300 dots an inch.
  void apply(Image &page);

 private:
  Cpu cpu_{1};
  Image reduced_, closed_, paper_;
};

}  // namespace cudascan::scan
