// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bench/npp.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/gpu_timer.h"

namespace cudascan::bench {
namespace {

// The few declarations that are needed here, from nppdefs.h, nppi_filtering_functions.h and others.
// They are the same in NPP 11 to 13, except for the size of a buffer, which was an int before 12.
struct NppiSize {
  int width, height;
};
struct NppiPoint {
  int x, y;
};
struct NppStreamContext {
  cudaStream_t stream;
  int device, multiprocessors, threads_per_multiprocessor, threads_per_block;
  std::size_t shared_memory_per_block;
  int capability_major, capability_minor;
  unsigned stream_flags;
  int reserved;
};
constexpr int kBorderReplicate = 2;  // NPP_BORDER_REPLICATE
constexpr int kGreater = 4;          // NPP_CMP_GREATER

using AdaptiveThreshold = int (*)(const std::uint8_t *, int, NppiSize, NppiPoint, std::uint8_t *,
                                  int, NppiSize, NppiSize, float, std::uint8_t, std::uint8_t, int,
                                  NppStreamContext);
/// Also the type of the filters for the smallest and the largest sample.
using BoxFilter = int (*)(const std::uint8_t *, int, NppiSize, NppiPoint, std::uint8_t *, int,
                          NppiSize, NppiSize, NppiPoint, int, NppStreamContext);
using Compare = int (*)(const std::uint8_t *, int, std::uint8_t, std::uint8_t *, int, NppiSize, int,
                        NppStreamContext);
using HistogramBytes = int (*)(NppiSize, int, std::size_t *, NppStreamContext);
using Histogram = int (*)(const std::uint8_t *, int, NppiSize, std::int32_t *, int, std::int32_t,
                          std::int32_t, std::uint8_t *, NppStreamContext);
constexpr int kLevels = 256;
/// Erosion or dilation.
using Morphology = int (*)(const std::uint8_t *, int, NppiSize, NppiPoint, std::uint8_t *, int,
                           NppiSize, const std::uint8_t *, NppiSize, NppiPoint, int,
                           NppStreamContext);

using Gray = int (*)(const std::uint8_t *, int, std::uint8_t *, int, NppiSize, NppStreamContext);
using MedianBytes = int (*)(NppiSize, NppiSize, std::uint32_t *, NppStreamContext);
template <typename T>
using Median = int (*)(const T *, int, T *, int, NppiSize, NppiSize, NppiPoint, std::uint8_t *,
                       NppStreamContext);

/// Loads libNAME in any supported version, from the linker's or the toolkit's folders.
void *open_library(const std::string &name, std::string &origin) {
  std::vector<std::string> folders{""};
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *root = std::getenv(variable)) folders.push_back(std::string(root) + "/lib64/");
  for (const char *folder :
       {"/usr/local/cuda/lib64/", "/usr/local/cuda/targets/x86_64-linux/lib/", "/opt/cuda/lib64/"})
    folders.push_back(folder);
  for (const std::string &folder : folders)
    for (const char *version : {".so.13", ".so.12", ".so.11", ".so"}) {
      origin = folder + "lib" + name + version;
      // Global: the filter libraries need symbols of libnppc and may not find it themselves.
      if (void *handle = dlopen(origin.c_str(), RTLD_NOW | RTLD_GLOBAL)) return handle;
    }
  return nullptr;
}

template <typename F>
void find(F &function, void *library, const char *name) {
  function = reinterpret_cast<F>(dlsym(library, name));
}

void check_npp(int status, const char *what) {
  if (status != 0)  // positive values are warnings, but nothing here should cause one
    throw Error(std::string(what) + " of NPP returned " + std::to_string(status));
}

}  // namespace

struct Npp::Impl {
  NppStreamContext context{};
  AdaptiveThreshold adaptive = nullptr;
  BoxFilter box = nullptr, minimum = nullptr, maximum = nullptr;
  MedianBytes median_bytes = nullptr, median_bytes_16 = nullptr;
  Median<std::uint8_t> median = nullptr;
  Median<std::uint16_t> median_16 = nullptr;
  cuda::DeviceBuffer median_memory;
  Compare compare = nullptr;
  Gray gray_3 = nullptr, gray_4 = nullptr;  // of RGB and RGBx
  HistogramBytes histogram_bytes = nullptr;
  Histogram histogram = nullptr;
  cuda::DeviceBuffer histogram_memory;
  Morphology erode = nullptr, dilate = nullptr;
  cuda::DeviceBuffer eroded, mask_memory;
  std::vector<std::uint8_t> mask;  // the content of mask_memory

  const std::uint8_t *upload(const std::vector<std::uint8_t> &cells) {
    auto *const memory = static_cast<std::uint8_t *>(mask_memory.reserve(cells.size()));
    if (mask != cells) {
      BENCH_CUDA(cudaMemcpyAsync(memory, cells.data(), cells.size(), cudaMemcpyHostToDevice,
                                 context.stream));
      BENCH_CUDA(cudaStreamSynchronize(context.stream));
      mask = cells;
    }
    return memory;
  }

  int morphology(Morphology which, AnyPlane in, AnyPlane out, const std::uint8_t *cells,
                 NppiSize mask_size, NppiPoint anchor) const {
    const NppiSize size{in.width, in.height};
    return which(static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride), size,
                 {0, 0}, static_cast<std::uint8_t *>(out.data), static_cast<int>(out.stride), size,
                 cells, mask_size, anchor, kBorderReplicate, context);
  }

  int over_window(BoxFilter which, AnyPlane in, AnyPlane out, int window) const {
    const NppiSize size{in.width, in.height};
    return which(static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride), size,
                 {0, 0}, static_cast<std::uint8_t *>(out.data), static_cast<int>(out.stride), size,
                 {window, window}, {window / 2, window / 2}, kBorderReplicate, context);
  }

  /// Filters only pixels whose window lies in the image, as this filter does not support borders.
  template <typename T>
  void inner_median(Median<T> which, MedianBytes bytes_of, AnyPlane in, AnyPlane out, int window) {
    // It waits for the GPU, so in a capture it fails and prints an error among the rows.
    cudaStreamCaptureStatus capture;
    BENCH_CUDA(cudaStreamIsCapturing(context.stream, &capture));
    if (capture != cudaStreamCaptureStatusNone) throw Error("NPP's median cannot be captured");
    const int radius = window / 2;
    const NppiSize size{in.width - 2 * radius, in.height - 2 * radius}, mask_size{window, window};
    std::uint32_t bytes = 0;
    check_npp(bytes_of(size, mask_size, &bytes, context), "FilterMedianGetBufferSize");
    check_npp(
        which(in.as<const T>().row(radius) + radius, static_cast<int>(in.stride),
              out.as<T>().row(radius) + radius, static_cast<int>(out.stride), size, mask_size,
              {radius, radius},
              static_cast<std::uint8_t *>(median_memory.reserve(std::max(bytes, 1u))), context),
        "FilterMedian");
  }
};

Npp::Npp(std::unique_ptr<Impl> impl, std::string origin)
    : impl_(std::move(impl)), origin_(std::move(origin)) {}
Npp::~Npp() = default;

std::unique_ptr<Npp> Npp::load(cudaStream_t stream, std::string &why) {
  std::string origin;
  if (!open_library("nppc", origin)) {
    why = "libnppc was not found";
    return nullptr;
  }
  void *filters = open_library("nppif", origin);
  if (!filters) {
    why = "libnppif was not found";
    return nullptr;
  }
  auto impl = std::make_unique<Impl>();
  find(impl->adaptive, filters, "nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx");
  find(impl->box, filters, "nppiFilterBoxBorder_8u_C1R_Ctx");
  find(impl->minimum, filters, "nppiFilterMinBorder_8u_C1R_Ctx");
  find(impl->maximum, filters, "nppiFilterMaxBorder_8u_C1R_Ctx");
  find(impl->median_bytes, filters, "nppiFilterMedianGetBufferSize_8u_C1R_Ctx");
  find(impl->median_bytes_16, filters, "nppiFilterMedianGetBufferSize_16u_C1R_Ctx");
  find(impl->median, filters, "nppiFilterMedian_8u_C1R_Ctx");
  find(impl->median_16, filters, "nppiFilterMedian_16u_C1R_Ctx");
  std::string unused;
  if (void *comparisons = open_library("nppitc", unused))
    find(impl->compare, comparisons, "nppiCompareC_8u_C1R_Ctx");
  if (void *statistics = open_library("nppist", unused)) {
    find(impl->histogram_bytes, statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx");
    find(impl->histogram, statistics, "nppiHistogramEven_8u_C1R_Ctx");
  }
  if (void *morphology = open_library("nppim", unused)) {
    find(impl->erode, morphology, "nppiErodeBorder_8u_C1R_Ctx");
    find(impl->dilate, morphology, "nppiDilateBorder_8u_C1R_Ctx");
  }
  if (void *colours = open_library("nppicc", unused)) {
    find(impl->gray_3, colours, "nppiRGBToGray_8u_C3C1R_Ctx");
    find(impl->gray_4, colours, "nppiRGBToGray_8u_AC4C1R_Ctx");
  }
  if (!impl->adaptive) {
    why = origin + " has no nppiFilterThresholdAdaptiveBoxBorder_8u_C1R_Ctx";
    return nullptr;
  }

  NppStreamContext &context = impl->context;
  context.stream = stream;
  BENCH_CUDA(cudaGetDevice(&context.device));
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    BENCH_CUDA(cudaDeviceGetAttribute(&value, which, context.device));
    return value;
  };
  context.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  context.threads_per_multiprocessor = attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
  context.threads_per_block = attribute(cudaDevAttrMaxThreadsPerBlock);
  context.shared_memory_per_block = attribute(cudaDevAttrMaxSharedMemoryPerBlock);
  context.capability_major = attribute(cudaDevAttrComputeCapabilityMajor);
  context.capability_minor = attribute(cudaDevAttrComputeCapabilityMinor);
  BENCH_CUDA(cudaStreamGetFlags(stream, &context.stream_flags));
  return std::unique_ptr<Npp>(new Npp(std::move(impl), std::move(origin)));
}

void Npp::adaptive_threshold(AnyPlane in, AnyPlane out, int window) const {
  const NppiSize size{in.width, in.height};
  check_npp(
      impl_->adaptive(static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride), size,
                      {0, 0}, static_cast<std::uint8_t *>(out.data), static_cast<int>(out.stride),
                      size, {window, window}, 10, 255, 0, kBorderReplicate, impl_->context),
      "FilterThresholdAdaptiveBoxBorder");
}

bool Npp::has_histogram() const {
  return impl_->histogram_bytes && impl_->histogram;
}
void Npp::histogram(AnyPlane in, AnyPlane counts) const {
  const NppiSize size{in.width, in.height};
  constexpr int kBounds = kLevels + 1;  // the first is 0, the last kLevels
  std::size_t bytes = 0;                // set all bytes, because an older NPP writes only an int
  check_npp(impl_->histogram_bytes(size, kBounds, &bytes, impl_->context),
            "HistogramEvenGetBufferSize");
  check_npp(
      impl_->histogram(static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride),
                       size, static_cast<std::int32_t *>(counts.data), kBounds, 0, kLevels,
                       static_cast<std::uint8_t *>(impl_->histogram_memory.reserve(bytes)),
                       impl_->context),
      "HistogramEven");
}

bool Npp::has_morphology() const {
  return impl_->erode && impl_->dilate;
}
void Npp::open(AnyPlane in, AnyPlane out, const LineMask &mask) {
  const auto *const cells = impl_->upload(mask.cells);
  const AnyPlane eroded{impl_->eroded.reserve(static_cast<std::size_t>(in.stride) * in.height),
                        in.width, in.height, in.depth, in.stride};
  const NppiSize mask_size{mask.width, mask.height};
  const NppiPoint anchor{mask.anchor_x, mask.anchor_y};
  check_npp(impl_->morphology(impl_->erode, in, eroded, cells, mask_size, anchor), "ErodeBorder");
  check_npp(impl_->morphology(impl_->dilate, eroded, out, cells, mask_size, anchor),
            "DilateBorder");
}

bool Npp::has(const NppWindow &work, int depth) const {
  using Filter = NppWindow::Filter;
  if (work.filter == Filter::median)
    return depth == 8 ? impl_->median && impl_->median_bytes
                      : impl_->median_16 && impl_->median_bytes_16;
  if (depth != 8) return false;
  switch (work.filter) {
    case Filter::minimum:
      return impl_->minimum != nullptr;
    case Filter::maximum:
      return impl_->maximum != nullptr;
    case Filter::mean:
      return has_box();
    default:
      return has_morphology();
  }
}
void Npp::filter(AnyPlane in, AnyPlane out, const NppWindow &work) {
  using Filter = NppWindow::Filter;
  const int window = work.window;
  const std::vector<std::uint8_t> square(window * window, 1);
  const auto morphology = [&](Morphology which) {
    return impl_->morphology(which, in, out, impl_->upload(square), {window, window},
                             {window / 2, window / 2});
  };
  switch (work.filter) {
    case Filter::minimum:
      return check_npp(impl_->over_window(impl_->minimum, in, out, window), "FilterMinBorder");
    case Filter::maximum:
      return check_npp(impl_->over_window(impl_->maximum, in, out, window), "FilterMaxBorder");
    case Filter::mean:
      return box(in, out, window);
    case Filter::erode:
      return check_npp(morphology(impl_->erode), "ErodeBorder");
    case Filter::dilate:
      return check_npp(morphology(impl_->dilate), "DilateBorder");
    case Filter::median:
      if (in.depth == 8)
        return impl_->inner_median(impl_->median, impl_->median_bytes, in, out, window);
      return impl_->inner_median(impl_->median_16, impl_->median_bytes_16, in, out, window);
  }
}

bool Npp::has_box() const {
  return impl_->box != nullptr;
}
void Npp::box(AnyPlane in, AnyPlane out, int window) const {
  check_npp(impl_->over_window(impl_->box, in, out, window), "FilterBoxBorder");
}

bool Npp::has_compare() const {
  return impl_->compare != nullptr;
}
void Npp::compare(AnyPlane in, AnyPlane out, int level) const {
  check_npp(
      impl_->compare(static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride),
                     static_cast<std::uint8_t>(level), static_cast<std::uint8_t *>(out.data),
                     static_cast<int>(out.stride), {in.width, in.height}, kGreater, impl_->context),
      "CompareC");
}

bool Npp::has(const NppLuma &work) const {
  return (work.channels == 3 ? impl_->gray_3 : impl_->gray_4) != nullptr;
}
void Npp::luma(AnyPlane in, AnyPlane out, const NppLuma &work) const {
  check_npp((work.channels == 3 ? impl_->gray_3 : impl_->gray_4)(
                static_cast<const std::uint8_t *>(in.data), static_cast<int>(in.stride),
                static_cast<std::uint8_t *>(out.data), static_cast<int>(out.stride),
                {in.width / work.channels, in.height}, impl_->context),
            "RGBToGray");
}

}  // namespace cudascan::bench
