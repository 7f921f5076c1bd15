// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Random cases. The number of a case determines an operator, settings, a format, a size, contents,
/// the memory layout of images, and some frames in sequence. Every backend must give the same
/// pixels, reports and refusals, and must not write anything else.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "common/dice.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {

/// The executors of one thread. They are used for all cases, so their memory holds data of other
/// operators.
class Bench {
 public:
  /// @param cuda  compare with the GPU, too
  explicit Bench(bool cuda);

  /// Runs a case.
  /// @param work  approximate limit of the samples that are read for an image
  /// @return the differences and a description of the case; "" if there are none
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
