// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the tests of kernels. TEST_ISA and CUDASCAN_MAX_CPU_ISA in the environment select an
// instruction set whose loops are tested. The tests are skipped if the processor does not support
// it or uses it by default.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include "kernels/base/simd.h"
#include "kernels/exec.h"
#include "tests/run_all.h"

namespace {

/// @return 0 if the library runs the loops of instruction set `name`, and would not do so by
/// default
int status_of_isa(const std::string &name) {
  using namespace cudascan;
  const std::string best = kIsaNames[static_cast<int>(isa_of_processor())];
  const auto end = std::find(std::begin(kIsaNames), std::end(kIsaNames), best);
  if (std::find(std::begin(kIsaNames), end, name) == end) {
    std::cout << "skipped: the best instruction set of this processor is " << best << '\n';
    return test::kSkipped;
  }
  if (name == Cpu::isa()) return 0;
  std::cerr << "the library runs the loops of " << Cpu::isa() << ", not of " << name << '\n';
  return 1;
}

}  // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char *isa = std::getenv("TEST_ISA"))
    if (const int status = status_of_isa(isa)) return status;
  return cudascan::test::run_all();
}
