// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <memory>

#include "kernels/exec.h"

namespace cudascan::pages {

/// Cuda::synchronize(), but the thread sleeps meanwhile: there are more threads than cores.
inline void sleep_until_done(Cuda &cuda) {
  static constexpr int kKey = 0;
  if (cuda.only_loads()) return;
  std::shared_ptr<void> &kept = cuda.kept(&kKey);
  if (!kept) kept = std::make_shared<cuda::Event>();
  auto &done = *static_cast<cuda::Event *>(kept.get());
  done.record(cuda.stream());
  done.synchronize();
  cuda.synchronize();
}

}  // namespace cudascan::pages
