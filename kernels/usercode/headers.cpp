// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/usercode/headers.h"

namespace cudascan::gswo {

const std::vector<SourceText> &headers() {
  static const std::vector<SourceText> texts{
#include "kernels/gswo/gswo_headers.inc"
  };
  return texts;
}

}  // namespace cudascan::gswo
