// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Runs translated filters: a sequence of kernels on the frame and on temporary images.
#pragma once
#include <map>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/exec.h"
#include "kernels/usercode/gpu_module.h"
#include "kernels/usercode/manifest.h"
#include "kernels/usercode/shared_object.h"

namespace cudascan::gswo {

/// An image for kernels; the user's indices of its first row and column are (oy, ox).
struct ChainImage {
  void *data;
  long long stride;  ///< bytes from row to row
  int width, height;
  int ox = 0, oy = 0;
  unsigned long long texture = 0;  ///< of a frame, 0 = none
  int sample_bytes = 1;            ///< not used by kernels
};

/// The memory of an executor's temporary images; it only grows.
template <typename Exec>
class ChainMemory {
 public:
  /// The image with this number, with rows at multiples of 256 bytes; its old contents are lost.
  ChainImage image(int number, int sample_bytes, int width, int height);

 private:
  using Buffer =
      std::conditional_t<std::is_same_v<Exec, Cpu>, std::vector<unsigned char>, cuda::DeviceBuffer>;
  std::vector<Buffer> buffers_;
};

/// Runs a filter. If none of its kernels runs, the result is the frame.
/// @param code    the file, compiled for the executor
/// @param in      the frame, of the type GSWO_SRC_T
/// @param out     of the type GSWO_DST_T and the same size
/// @param values  of the function's parameters; missing ones have their defaults
/// @throws BadSetting for a parameter with neither value nor default
void run_chain(Cpu &, SharedObject &code, const ManifestFunction &, ChainMemory<Cpu> &,
               ChainImage in, ChainImage out, const std::map<std::string, double> &values);
void run_chain(Cuda &, GpuModule &code, const ManifestFunction &, ChainMemory<Cuda> &,
               ChainImage in, ChainImage out, const std::map<std::string, double> &values);

}  // namespace cudascan::gswo
