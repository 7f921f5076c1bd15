// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// When it is preloaded, it crashes the process in which cudascan-pipeline-bench measures
/// cvequalizehist, like a mistake in that element would.
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

namespace {

[[gnu::constructor]] void crash() {
  std::ifstream file("/proc/self/cmdline");
  const std::string words{std::istreambuf_iterator<char>(file), {}};
  if (words.find("--apart") != std::string::npos &&
      words.find("cvequalizehist") != std::string::npos)
    std::raise(SIGSEGV);
}

}  // namespace
