// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/base/simd.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "kernels/base/refuse.h"
#include "kernels/exec.h"

namespace cudascan {
namespace {

struct Choice {
  Isa isa = isa_of_processor();
  std::string wrong;  // the variable's value if it is wrong
};

Choice choose() {
  Choice choice;
  const char *cap = std::getenv("CUDASCAN_MAX_CPU_ISA");
  if (!cap || !*cap) return choice;
  const auto known = std::find(std::begin(kIsaNames), std::end(kIsaNames), std::string(cap));
  if (known == std::end(kIsaNames))
    choice.wrong = cap;
  else
    choice.isa = std::min(choice.isa, static_cast<Isa>(known - std::begin(kIsaNames)));
  return choice;
}

// Other files may call it before this file is initialised.
const Choice &choice() {
  static const Choice choice = choose();
  return choice;
}

}  // namespace

const Isa kIsa = choice().isa;

void check_isa() {
  if (!choice().wrong.empty())
    refuse(
        "the environment variable CUDASCAN_MAX_CPU_ISA=", choice().wrong,
        " is not an instruction set; set it to baseline, avx2, avx512 or avx512vbmi, or unset it");
}

const char *Cpu::isa() {
  check_isa();
  return kIsaNames[static_cast<int>(choice().isa)];
}

}  // namespace cudascan
