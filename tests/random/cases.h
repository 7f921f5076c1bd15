// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Cases drawn at random, each from its number alone: an operator, its settings, a format, a size,
/// contents, where images lie in memory, some frames one after another. Every backend must give the
/// same pixels, reports and refusals, and must not write anything else.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "tests/kernels/operator_test.h"
#include "tests/random/dice.h"

namespace cudascan::test {

/// The executors of one thread. They are kept from case to case, so that their memory holds what
/// other operators left.
class Bench {
 public:
  /// @param cuda  whether to compare with the GPU, too
  explicit Bench(bool cuda);

  /// Runs a case.
  /// @param work  samples that may be looked at for an image, about
  /// @return what differs, with the case in words; "" if nothing does
  std::string run(std::uint64_t number, double work);

 private:
  template <typename Params>
  std::string run_operator(Dice &, double work);
  template <typename In, typename Out, typename Params>
  std::string run_format(Dice &, unsigned in_maximum, unsigned out_maximum, Size, double work);

  Cpu one_{1}, many_{4};
  std::unique_ptr<cuda::Stream> stream_;
  std::unique_ptr<Cuda> cuda_;
  std::unique_ptr<DeviceCopy> in_, out_;
};

}  // namespace cudascan::test
