// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sched.h>

#include <ctime>
#include <fstream>
#include <thread>

#include "bench/bench.h"
#include "kernels/devices.h"

namespace cudascan::bench {
namespace {

/// The kernel's name of the first processor.
std::string cpu_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (const auto colon = line.find(": "); colon != std::string::npos)
        return line.substr(colon + 2);
  return {};
}

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm day{};
  char text[16] = "";
  localtime_r(&now, &day);
  std::strftime(text, sizeof text, "%Y-%m-%d", &day);
  return text;
}

int usable_cores() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

Machine this_machine() {
  Machine machine;
  machine.cpu = cpu_name();
  machine.gpus = static_cast<int>(Devices::all().size());
  machine.cores = usable_cores();
  machine.date = today();
  describe_gpu(machine);
  return machine;
}

}  // namespace cudascan::bench
