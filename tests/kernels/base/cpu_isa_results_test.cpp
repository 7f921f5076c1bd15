// SPDX-License-Identifier: LGPL-2.1-or-later
// Results have the same bits with the loops of each instruction set that this processor supports.
// Tests with oracles check small images; this one uses larger images and all operators with such
// loops. A process runs the loops of one instruction set, so death tests of the style "threadsafe"
// start other processes.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "all_operators.h"
#include "kernels/base/simd.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {
namespace {

constexpr int kWidth = 517, kHeight = kSanitized ? 27 : 83;

/// FNV-1a hash.
class Hash {
 public:
  template <typename T>
  void add(const std::vector<T> &values) {
    for (const T value : values) sum_ = (sum_ ^ static_cast<std::uint64_t>(value)) * 0x100000001b3;
  }
  std::uint64_t sum() const { return sum_; }

 private:
  std::uint64_t sum_ = 0xcbf29ce484222325;
};

template <typename T, typename Params>
void add_result(Hash &hash, Content content, T maximum, const Params &params) {
  Cpu cpu(1);
  const Image<T> in(make_content<T>(content, kWidth, kHeight, maximum), kWidth, kHeight, {},
                    maximum);
  Image<T> out(kWidth, kHeight, {}, maximum);
  run(cpu, in.plane(), out.plane(), params);
  hash.add(out.samples());
}

/// A line with the operator's name and a hash of all samples of its results.
template <typename Params>
std::string results(const char *name, const std::vector<Params> &all_params) {
  Hash hash;
  for (const Params &params : all_params)
    for (const Content content : {Content::text, Content::clipped}) {
      add_result<std::uint8_t>(hash, content, 255, params);
      add_result<std::uint16_t>(hash, content, 65535, params);
      add_result<std::uint16_t>(hash, content, 0x3ff, params);
    }
  std::ostringstream line;
  line << name << " " << std::hex << hash.sum() << '\n';
  return line.str();
}

std::string spectra() {
  Hash hash;
  Cpu cpu(1);
  const Image<std::uint16_t> in(make_content<std::uint16_t>(Content::text, kWidth, kHeight, 65535),
                                kWidth, kHeight);
  Image<std::uint16_t> out(kWidth, kHeight);
  for (const auto operation : {LinearOpenOperation::closing, LinearOpenOperation::top_hat}) {
    LinearOpenReport report;
    run(cpu, in.plane(), out.plane(), {.operation = operation, .directions = 9}, &report);
    hash.add(report.spectrum);
  }
  std::ostringstream line;
  line << "spectra " << std::hex << hash.sum() << '\n';
  return line.str();
}

std::string all_results() {
  std::vector<NickParams> nick;
  for (const auto method : {NickMethod::nick, NickMethod::niblack, NickMethod::sauvola,
                            NickMethod::wolf, NickMethod::bradley, NickMethod::phansalkar})
    for (const auto output : {NickOutput::binary, NickOutput::threshold})
      for (const int window : {15, 301})
        nick.push_back({.method = method, .window = window, .output = output});

  std::vector<LinearOpenParams> lines;
  for (const auto kind : {LinearOpenLines::partition, LinearOpenLines::invariant})
    for (const auto operation : {LinearOpenOperation::opening, LinearOpenOperation::black_hat})
      for (const int length : {4, 41}) {
        for (const double angle : {0., 12., 45., 71., 90., 160.})
          lines.push_back(
              {.operation = operation, .length = length, .angle = angle, .lines = kind});
        lines.push_back(
            {.operation = operation, .length = length, .directions = 12, .lines = kind});
      }
  lines.push_back({.directions = 12, .output = LinearOpenOutput::orientation});

  std::vector<SwoFilterParams> windows;
  for (int op = 0; op < static_cast<int>(SwoFilterOperator::custom); ++op)
    for (const int window : {3, 7})
      for (const char *const shape : {"rectangle", "ellipse"})
        windows.push_back(
            {.op = static_cast<SwoFilterOperator>(op), .window = window, .shape = shape});
  windows.push_back({.op = SwoFilterOperator::median, .window = 31});
  windows.push_back({.op = SwoFilterOperator::standard_deviation, .window = 101});
  windows.push_back({.op = SwoFilterOperator::open, .window = 101});

  std::vector<RotateParams> turns;
  for (const auto interpolation : {RotateInterpolation::linear, RotateInterpolation::cubic})
    for (const double angle : {0.7, -4., 30., 180.})
      turns.push_back({.angle = angle, .interpolation = interpolation});

#define AND_DEFAULTS(op, Name) +results<Name##Params>(#op " defaults", {{}})
  return results("nick", nick) +
         results<EqualizeParams>("equalize", {{},
                                              {.amount = 0.3},
                                              {.method = EqualizeMethod::clahe, .clip_limit = 3},
                                              {.method = EqualizeMethod::clahe, .amount = 0.7}}) +
         results("linearopen", lines) + spectra() + results("swofilter", windows) +
         results("rotate", turns) CUDASCAN_ALL_OPERATORS(AND_DEFAULTS);
#undef AND_DEFAULTS
}

[[noreturn]] void tell() {
  std::cerr << Cpu::isa() << '\n' << all_results();
  std::exit(0);
}

TEST(CpuIsaResults, AreTheSameBits) {
  const char *const variable = "CUDASCAN_MAX_CPU_ISA", *const ours = "TEST_RESULTS";
  const char *const limit = std::getenv(variable), *const told = std::getenv(ours);
  const std::string before = limit ? limit : "";
  // The other processes run this code too. They do not need the values of the other instruction
  // sets.
  const std::string expected = told ? told : all_results();
  setenv(ours, expected.c_str(), 1);
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  for (Isa isa = Isa::baseline; isa < isa_of_processor(); isa = Isa{static_cast<int>(isa) + 1}) {
    const char *const name = kIsaNames[static_cast<int>(isa)];
    setenv(variable, name, 1);
    EXPECT_EXIT(tell(), testing::ExitedWithCode(0), name + ("\n" + expected));
  }
  setenv(variable, before.c_str(), 1);
  unsetenv(ours);
}

}  // namespace
}  // namespace cudascan::test
