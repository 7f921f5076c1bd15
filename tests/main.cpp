// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the tests. Exits with 77, which Meson shows as SKIP, when every test skipped itself. With TEST_ISA
// and CUDASCAN_MAX_CPU_ISA in the environment what is to be tested are the loops of this instruction set:
// that is skipped where the processor lacks it or runs them anyway.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>

#include "kernels/exec.h"
#include "kernels/simd.h"

namespace {

constexpr int kSkipped = 77;

/// @return 0 if the loops of instruction set `name` are what is run and are not run without being asked for
int status_of_isa(const std::string &name) {
  using namespace cudascan;
  const std::string best = kIsaNames[static_cast<int>(isa_of_processor())];
  const auto end = std::find(std::begin(kIsaNames), std::end(kIsaNames), best);
  if (std::find(std::begin(kIsaNames), end, name) == end) {
    std::cout << "skipped: the best that this processor has is " << best << '\n';
    return kSkipped;
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
  const int status = RUN_ALL_TESTS();
  const testing::UnitTest &unit = *testing::UnitTest::GetInstance();
  const bool all_skipped =
      unit.test_to_run_count() > 0 && unit.skipped_test_count() == unit.test_to_run_count();
  return status == 0 && all_skipped ? kSkipped : status;
}
