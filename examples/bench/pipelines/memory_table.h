// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <string>

namespace cudascan::bench {

struct MemoryTable {
  std::string element = "cudanick", format = "GRAY8", backend = "auto";
  int width = 3840, height = 2160;
  double seconds = 1.5;
  bool map = false, quick = false;
};

/// One element with every kind of memory and with queues, and the limit of PCIe.
/// @return how many pipelines ran
int print_memory_table(const MemoryTable &settings);

}  // namespace cudascan::bench
