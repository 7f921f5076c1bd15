// SPDX-License-Identifier: LGPL-2.1-or-later
#include "program.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "emulator.h"

namespace cudascan::gswo::test {

namespace {

/// The end of each program.
constexpr char kCosts[] = R"(
extern "C" void costs(long long *to) {
  const gswo::Counts &c = gswo::counts();
  for (const long long v : {c.allocations.load(), c.uploads.load(), c.downloads.load(),
                            c.uploaded.load(), c.downloaded.load(), emulated::device().launches})
    *to++ = v;
}
)";

/// `kernel<<<g_grid, g_block>>>(...)` becomes a call.
std::string with_launches(std::string text) {
  const std::string launch = "<<<g_grid, g_block>>>(";
  for (auto at = text.find(launch); at != std::string::npos; at = text.find(launch, at)) {
    const auto name = text.rfind(' ', at) + 1;
    const std::string kernel = text.substr(name, at - name);
    text.replace(name, at - name + launch.size(),
                 "emulated::launch(g_grid, g_block, " + kernel + ", ");
  }
  return text;
}

}  // namespace

Program::Program(const std::string &name) {
  const std::string plain = folder_ / "plain.cpp", cuda = folder_ / "emulated.cpp";
  EXPECT_EQ(translate({name, "--emit", "plain", "-o", plain}).status, 0);
  const Outcome outcome = translate({name, "--emit", "standalone"});
  if (outcome.status) throw std::runtime_error(outcome.errors);
  write(cuda, "#include \"emulated/launch.h\"\n" + with_launches(outcome.output) + kCosts);
  const std::vector<std::string> options{"-std=c++20", "-O1", "-w", "-ffp-contract=off"};
  plain_ = std::make_unique<Library>(plain, options, folder_);
  std::vector<std::string> more = options;
  // Each program has a device of its own.
  if (std::string(GSWO_CXX).find("clang") == std::string::npos) more.push_back("-fno-gnu-unique");
  more.insert(more.end(), {"-I" GSWO_RUNTIME, "-I" GSWO_TESTS, "-I" GSWO_TESTS "/emulated"});
  cuda_ = std::make_unique<Library>(cuda, more, folder_);
  cuda_->function<void(void *, decltype(&emulate))>("emulated_begin")(cuda_->handle(), emulate);
}

Costs Program::costs_of(const std::function<void()> &code) const {
  long long before[6], after[6];
  auto *const now = cuda_->function<void(long long *)>("costs");
  now(before);
  code();
  now(after);
  for (int k = 0; k < 6; ++k) after[k] -= before[k];
  return {after[0], after[1], after[2], after[3], after[4], after[5]};
}

}  // namespace cudascan::gswo::test
