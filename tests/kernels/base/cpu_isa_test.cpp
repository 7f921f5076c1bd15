// SPDX-License-Identifier: LGPL-2.1-or-later
// The environment variable CUDASCAN_MAX_CPU_ISA. It is read when the library is loaded, so each
// value needs a process of its own; death tests of the style "threadsafe" start them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "kernels/base/simd.h"
#include "kernels/exec.h"

namespace cudascan {
namespace {

constexpr const char *kVariable = "CUDASCAN_MAX_CPU_ISA";

class CpuIsa : public testing::Test {
 protected:
  void SetUp() override {
    testing::FLAGS_gtest_death_test_style = "threadsafe";
    if (const char *value = std::getenv(kVariable)) before_ = value;
  }
  void TearDown() override {
    if (before_)
      setenv(kVariable, before_->c_str(), 1);
    else
      unsetenv(kVariable);
  }

 private:
  std::optional<std::string> before_;
};

/// Prints the instruction set, or the error message, and ends the process.
[[noreturn]] void tell() {
  try {
    Cpu cpu(1);
    std::cerr << "isa " << Cpu::isa() << ".\n";
  } catch (const BadSetting &error) {
    std::cerr << error.what() << '\n';
    std::exit(1);
  }
  std::exit(0);
}

std::string told(Isa isa) {
  return std::string("isa ") + kIsaNames[static_cast<int>(isa)] + "\\.";
}

TEST_F(CpuIsa, IsThatOfTheProcessor) {
  unsetenv(kVariable);
  EXPECT_EXIT(tell(), testing::ExitedWithCode(0), told(isa_of_processor()));
  setenv(kVariable, "", 1);
  EXPECT_EXIT(tell(), testing::ExitedWithCode(0), told(isa_of_processor()));
}

TEST_F(CpuIsa, IsAtMostWhatTheVariableNames) {
  for (Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512, Isa::avx512vbmi}) {
    const char *name = kIsaNames[static_cast<int>(isa)];
    SCOPED_TRACE(name);
    setenv(kVariable, name, 1);
    EXPECT_EXIT(tell(), testing::ExitedWithCode(0), told(std::min(isa, isa_of_processor())));
  }
}

TEST_F(CpuIsa, WrongNamesAreRefusedWithTheRemedy) {
  for (const char *wrong : {"sse9", "AVX2", "avx", "avx2 ", "0"}) {
    SCOPED_TRACE(wrong);
    setenv(kVariable, wrong, 1);
    EXPECT_EXIT(tell(), testing::ExitedWithCode(1),
                std::string("CUDASCAN_MAX_CPU_ISA=") + wrong +
                    " is not an instruction set; set it to baseline, avx2, avx512 or avx512vbmi");
  }
}

TEST_F(CpuIsa, IsDecidedOnce) {
  const std::string isa = Cpu::isa();
  setenv(kVariable, "sse9", 1);
  EXPECT_NO_THROW(Cpu(1));
  EXPECT_EQ(isa, Cpu::isa());
}

}  // namespace
}  // namespace cudascan
