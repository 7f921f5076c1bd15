// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gpu_decoder.h"

#include "coded.h"
#include "kernels/luma.h"
#include "plain_tiff.h"

namespace cudascan::scan {
namespace {

/// As luma_of_rgb() makes it.
template <typename T>
void queue_luma(Cuda &cuda, const CodecTarget &rgb, void *to, std::ptrdiff_t stride) {
  const auto colour = [&](int which) {
    return Plane<const T>{static_cast<const T *>(rgb.data) + which, rgb.width, rgb.height,
                          rgb.stride};
  };
  const RgbPlanes<const T> in{colour(0), colour(1), colour(2), {}, true, 3};
  static const LumaWeights kRec601 = luma_weights(0.299, 0.114);
  get_luma(cuda, in, kRec601, Plane<T>{static_cast<T *>(to), rgb.width, rgb.height, stride});
}

}  // namespace

GpuDecoder::GpuDecoder(Gpus &gpus, int device) {
  if (GpuJpegs *const jpegs = gpus.jpegs()) jpeg_.emplace(*jpegs, device);
  if (GpuCodecs *const codecs = gpus.codecs()) codec_.emplace(*codecs, device);
}

bool GpuDecoder::decode(const Image &page, void *to, std::ptrdiff_t stride, Cuda &cuda,
                        CUstream_st *stream, Findings &found) {
  if (page.coded->jpeg())
    return jpeg_ &&
           decode_jpeg(page, {static_cast<std::uint8_t *>(to), page.width, page.height, stride},
                       cuda, stream, found);
  return codec_ && decode_codec(page, to, stride, cuda, stream, found);
}

bool GpuDecoder::decode_jpeg(const Image &page, const Plane<std::uint8_t> &to, Cuda &cuda,
                             CUstream_st *stream, Findings &found) {
  free_.record(stream);
  // First, so that it is done while the page waits to be decoded.
  const std::uint32_t *const is_damaged = pages::queue_check(cuda, *page.coded->jpeg());
  const bool is_here =
      jpeg_->decode(*page.coded, to, stream, free_, found.decoder, found.not_on_gpu);
  cuda.synchronize();
  if (!is_here || *is_damaged == 0) return is_here;
  found.not_on_gpu = "damaged";
  return false;
}

bool GpuDecoder::decode_codec(const Image &page, void *to, std::ptrdiff_t stride, Cuda &cuda,
                              CUstream_st *stream, Findings &found) {
  const int samples = page.coded->facts().samples;
  CodecTarget target{to, stride, page.width, page.height, page.depth, samples};
  if (samples == 3) {
    constexpr std::ptrdiff_t kTo = 256;
    const std::ptrdiff_t bytes = std::ptrdiff_t{3} * page.width * (page.depth / 8);
    target.stride = (bytes + kTo - 1) / kTo * kTo;
    target.data = rgb_.reserve(static_cast<std::size_t>(target.stride) * page.height);
  }
  found.not_on_gpu = codec_->decode(*page.coded, target, stream);
  if (found.not_on_gpu.empty() && samples == 3) {
    if (page.depth == 8)
      queue_luma<std::uint8_t>(cuda, target, to, stride);
    else
      queue_luma<std::uint16_t>(cuda, target, to, stride);
  }
  const bool are_right = found.not_on_gpu.empty() && are_sums_right(page, target, cuda, stream);
  cuda.synchronize();
  if (!found.not_on_gpu.empty()) return false;
  if (!are_right) {
    found.not_on_gpu = "damaged";
    return false;
  }
  found.decoder = GpuCodec::kName;
  return true;
}

/// Compares what was decoded with the checksums of the file, if it has some.
bool GpuDecoder::are_sums_right(const Image &page, const CodecTarget &decoded, Cuda &cuda,
                                CUstream_st *stream) {
  const CodecFacts &facts = page.coded->facts();
  if (facts.sums.empty()) return true;
  const std::size_t row = std::size_t{1} * page.width * facts.samples * (page.depth / 8);
  auto *const samples = static_cast<unsigned char *>(samples_.reserve(row * page.height));
  const auto stride = static_cast<std::ptrdiff_t>(row);
  cuda::copy_rows(samples, stride, decoded.data, decoded.stride, row, page.height, stream);
  cuda.synchronize();
  return sums_are_right(facts, samples, stride, page.width, page.height, page.depth);
}

}  // namespace cudascan::scan
