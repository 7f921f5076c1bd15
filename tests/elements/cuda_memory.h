// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What tests of frames in the memory of the GPU have in common.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/elements/support.h"

namespace cudascan::elements {

class CudaMemory : public testing::Test {
 protected:
  void SetUp() override { NEEDS_GPU(); }

  /// Formats that stock elements upload and ours take.
  static std::vector<GstVideoFormat> common_formats() {
    std::vector<GstVideoFormat> formats;
    const auto stock = template_formats("cudaupload", GST_PAD_SRC, kCudaMemory);
    for (GstVideoFormat format : template_formats("cudanick", GST_PAD_SINK, kCudaMemory))
      if (std::find(stock.begin(), stock.end(), format) != stock.end()) formats.push_back(format);
    return formats;
  }
};

/// Whether cudaupload and cudadownload keep a frame unchanged. Some releases change or refuse odd
/// sizes.
inline bool stock_carries(const Picture &picture) {
  Filter stock("cudaupload ! video/x-raw(memory:CUDAMemory) ! cudadownload");
  if (stock.push_picture(picture) != GST_FLOW_OK) return false;
  Ref<GstBuffer> out = stock.pull();
  return out && same(to_picture(out.get(), stock.output_caps().get()), picture);
}

inline const std::string kInCuda = "video/x-raw(memory:CUDAMemory)";
inline const std::string kNick = "cudanick backend=cuda window=15 ";
inline constexpr std::pair<int, int> kSizes[] = {{64, 48}, {62, 38}, {61, 37},
                                                 {2, 2},   {1, 1},   {130, 7}};

inline NickParams window15() {
  NickParams params;
  params.window = 15;
  return params;
}

/// The result of kNick for a picture.
inline Picture once(const Picture &in) {
  return expected(in, window15());
}

inline Picture twice(const Picture &in) {
  return once(once(in));
}

}  // namespace cudascan::elements
