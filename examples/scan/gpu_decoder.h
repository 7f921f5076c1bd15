// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "gpus.h"
#include "image.h"
#include "kernels/cuda_resources.h"
#include "kernels/exec.h"
#include "nvimgcodec.h"
#include "nvjpeg.h"
#include "steps.h"

namespace cudascan::scan {

/// Decodes pages on the GPU that is current, by the library that takes their format. For one
/// thread.
class GpuDecoder {
 public:
  GpuDecoder(Gpus &gpus, int device);

  /// Decodes a page to device memory, and waits until it is there.
  /// @param page    is_coded()
  /// @param to      gets its levels; what uses it until now is queued on the stream
  /// @param stride  bytes from row to row
  /// @param stream  that of `cuda`
  /// @param found   gets the name of what decodes it, or why nothing does
  /// @return whether the page is there, whole
  /// @throws Error when the GPU fails
  bool decode(const Image &page, void *to, std::ptrdiff_t stride, Cuda &cuda, CUstream_st *stream,
              Findings &found);

 private:
  bool decode_jpeg(const Image &page, const Plane<std::uint8_t> &to, Cuda &cuda,
                   CUstream_st *stream, Findings &found);
  bool decode_codec(const Image &page, void *to, std::ptrdiff_t stride, Cuda &cuda,
                    CUstream_st *stream, Findings &found);
  bool are_sums_right(const Image &page, const CodecTarget &decoded, Cuda &cuda,
                      CUstream_st *stream);

  std::optional<GpuJpeg> jpeg_;
  std::optional<GpuCodec> codec_;
  cuda::Event free_;        ///< the target may be written
  cuda::DeviceBuffer rgb_;  ///< of a page in colour
  Memory samples_{true};    ///< of a page with checksums
};

}  // namespace cudascan::scan
