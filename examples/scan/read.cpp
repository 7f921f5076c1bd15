// SPDX-License-Identifier: LGPL-2.1-or-later
#include "read.h"

#include <vips/vips.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

#include "common/error.h"
#include "luma.h"

namespace cudascan::scan {
namespace {

constexpr int kLongestSide = 32768;
/// libvips reports 1 pixel a millimetre if a file states nothing; scans have more.
constexpr double kLeastDpi = 30;
constexpr double kMmPerInch = 25.4;

struct Unref {
  void operator()(void *object) const { g_object_unref(object); }
};
using VipsPtr = std::unique_ptr<VipsImage, Unref>;
using RegionPtr = std::unique_ptr<VipsRegion, Unref>;

/// The error of libvips, in one line.
[[noreturn]] void fail(const std::string &path) {
  std::string text = vips_error_buffer();
  vips_error_clear();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ';');
  throw Error(path + ": " + (text.empty() ? "cannot be read" : text));
}

/// Takes over the result of a function of libvips.
VipsPtr made(VipsImage *image, const std::string &path) {
  if (image == nullptr) fail(path);
  return VipsPtr(image);
}

/// @throws Error unless the file has a usual format for scans; libvips also reads others and would
///         even run external programs for some
/// @return whether it may have several pages
bool check_format(const std::string &path) {
  GFile *file = g_file_new_for_path(path.c_str());
  const std::unique_ptr<GFile, Unref> owner(file);
  GError *error = nullptr;
  GFileInfo *info =
      g_file_query_info(file, G_FILE_ATTRIBUTE_STANDARD_SIZE "," G_FILE_ATTRIBUTE_STANDARD_TYPE,
                        G_FILE_QUERY_INFO_NONE, nullptr, &error);
  if (info == nullptr) {
    const std::string text = error->message;
    g_error_free(error);
    throw Error(path + ": " + text);
  }
  const std::unique_ptr<GFileInfo, Unref> info_owner(info);
  if (g_file_info_get_size(info) == 0) throw Error(path + ": the file is empty");
  const char *loader = vips_foreign_find_load(path.c_str());
  vips_error_clear();
  constexpr std::string_view kLoaders[] = {"VipsForeignLoadPng", "VipsForeignLoadJpeg",
                                           "VipsForeignLoadTiff", "VipsForeignLoadPpm",
                                           "VipsForeignLoadJp2k"};
  for (const std::string_view known : kLoaders)
    if (loader != nullptr && std::string_view(loader).starts_with(known))
      return known == "VipsForeignLoadTiff";  // "pages" of JPEG 2000 are reductions
  throw Error(path + ": not a PNG, JPEG, TIFF, PNM or JPEG 2000 file");
}

VipsPtr open(const std::string &path, int page, VipsAccess access) {
  VipsImage *image = page == 0
                         ? vips_image_new_from_file(path.c_str(), "access", access, "fail_on",
                                                    VIPS_FAIL_ON_ERROR, nullptr)
                         : vips_image_new_from_file(path.c_str(), "access", access, "fail_on",
                                                    VIPS_FAIL_ON_ERROR, "page", page, nullptr);
  return made(image, path);
}

/// One or three samples a pixel, of 8 or 16 bit, upright.
VipsPtr to_gray_or_rgb(VipsPtr image, const std::string &path) {
  VipsImage *next = nullptr;
  if (vips_image_get_orientation(image.get()) != 1) {
    if (vips_autorot(image.get(), &next, nullptr) != 0) fail(path);
    image.reset(next);
  }
  if (vips_image_hasalpha(image.get())) {
    const double white = image->BandFmt == VIPS_FORMAT_USHORT ? 65535 : 255;
    VipsArrayDouble *background = vips_array_double_new(&white, 1);
    const int failed =
        vips_flatten(image.get(), &next, "background", background, "max_alpha", white, nullptr);
    vips_area_unref(VIPS_AREA(background));
    if (failed) fail(path);
    image.reset(next);
  }
  const bool direct = image->BandFmt == VIPS_FORMAT_UCHAR || image->BandFmt == VIPS_FORMAT_USHORT;
  const bool rgb = image->Type == VIPS_INTERPRETATION_sRGB ||
                   image->Type == VIPS_INTERPRETATION_RGB16 ||
                   image->Type == VIPS_INTERPRETATION_RGB;
  if (!(direct && (image->Bands == 1 || (rgb && image->Bands == 3)))) {
    if (vips_colourspace(image.get(), &next, VIPS_INTERPRETATION_sRGB, nullptr) != 0) fail(path);
    image.reset(next);
  }
  if (image->Bands != 1 && image->Bands != 3)
    throw Error(path + ": " + std::to_string(image->Bands) +
                " samples a pixel; only 1 and 3 are supported");
  return image;
}

/// Rows that are decoded at a time.
constexpr int kRows = 16;

template <typename T>
void decode(VipsImage *from, const std::string &path, const Plane<T> &to) {
  const RegionPtr region(vips_region_new(from));
  for (int y = 0; y < to.height; y += kRows) {
    const VipsRect part{0, y, to.width, std::min(kRows, to.height - y)};
    if (vips_region_prepare(region.get(), &part) != 0) fail(path);
    for (int row = y; row < y + part.height; ++row) {
      const auto *samples = reinterpret_cast<const T *>(VIPS_REGION_ADDR(region.get(), 0, row));
      luma_row(samples, from->Bands, to.width, to.row(row));
    }
  }
}

/// Files store 300 dpi as 11811 pixels a metre, so a value this close to a whole number is rounded.
double dpi(double per_mm) {
  const double dpi = per_mm * kMmPerInch;
  if (!std::isfinite(dpi) || dpi < kLeastDpi) return 0;
  return std::fabs(dpi - std::round(dpi)) < 0.02 ? std::round(dpi) : dpi;
}

}  // namespace

void start_reading(const char *program) {
  if (VIPS_INIT(program) != 0) fail(program);
  // Parallelism is over pages, and each page is read once.
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  // Only warnings about oddities of a file; the functions report errors themselves.
  g_log_set_handler(
      "VIPS", G_LOG_LEVEL_WARNING, [](auto...) {}, nullptr);
}

FileFacts facts_of(const std::string &path) {
  const bool several = check_format(path);
  const VipsPtr image = open(path, 0, VIPS_ACCESS_SEQUENTIAL);
  return {several ? std::max(1, vips_image_get_n_pages(image.get())) : 1};
}

void read_page(const std::string &path, int page, Image &image) {
  check_format(path);
  VipsPtr source = open(path, page, VIPS_ACCESS_SEQUENTIAL);
  if (source->Xsize > kLongestSide || source->Ysize > kLongestSide)
    throw Error(path + ": " + std::to_string(source->Xsize) + "x" + std::to_string(source->Ysize) +
                " pixels; the limit is 32768 a side");
  // A rotated image is not read from top to bottom.
  if (vips_image_get_orientation(source.get()) != 1) source = open(path, page, VIPS_ACCESS_RANDOM);
  source = to_gray_or_rgb(std::move(source), path);
  image.resolution = {dpi(source->Xres), dpi(source->Yres)};
  if (source->BandFmt == VIPS_FORMAT_USHORT) {
    image.shape(source->Xsize, source->Ysize, 16);
    decode(source.get(), path, image.plane<std::uint16_t>());
  } else {
    image.shape(source->Xsize, source->Ysize, 8);
    decode(source.get(), path, image.plane<std::uint8_t>());
  }
  find_content(image);
}

}  // namespace cudascan::scan
