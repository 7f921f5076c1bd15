// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/pipelines/suite.h"

namespace cudascan::bench {

const std::vector<NamedSize> &known_sizes() {
  static const std::vector<NamedSize> sizes{{"720p", 1280, 720},
                                            {"1080p", 1920, 1080},
                                            {"4k", 3840, 2160},
                                            {"8k", 7680, 4320},
                                            {"scan", 2736, 3648}};
  return sizes;
}

}  // namespace cudascan::bench
