// SPDX-License-Identifier: LGPL-2.1-or-later
#include "decode.h"

#include <vips/vips.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <shared_mutex>
#include <string_view>

#include "common/error.h"
#include "levels.h"
#include "luma.h"
#include "page_size.h"
#include "plain_png.h"
#include "salvage_jpeg.h"
#include "salvage_tiff.h"

namespace cudascan::scan {
namespace {

/// libvips reports 1 pixel a millimetre if a file states nothing; scans have more.
constexpr double kLeastDpi = 30;

struct Unref {
  void operator()(void *object) const { g_object_unref(object); }
};
using SourcePtr = std::unique_ptr<VipsSource, Unref>;
using VipsPtr = std::unique_ptr<VipsImage, Unref>;
using RegionPtr = std::unique_ptr<VipsRegion, Unref>;

/// Where warnings of libvips go: to the page that this thread reads.
thread_local std::vector<std::string> *warnings_here = nullptr;

void on_warning(const char *, GLogLevelFlags, const char *text, void *) {
  // It repeats an error.
  if (std::string_view(text).starts_with("error in tile")) return;
  if (warnings_here == nullptr) {
    std::fprintf(stderr, "libvips: %s\n", text);
    return;
  }
  constexpr std::size_t kMost = 10;
  auto &list = *warnings_here;
  if (list.size() < kMost && std::find(list.begin(), list.end(), text) == list.end())
    list.emplace_back(text);
}

/// Collects the warnings while it lives.
class Collect {
 public:
  explicit Collect(std::vector<std::string> &to) { warnings_here = &to; }
  ~Collect() { warnings_here = nullptr; }
  Collect(const Collect &) = delete;
  Collect &operator=(const Collect &) = delete;
};

/// The error of libvips, in one line.
std::string error_text() {
  std::string text = vips_error_buffer();
  vips_error_clear();
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;)
    text.replace(at, text.find_first_not_of('\n', at) - at, "; ");
  return text.empty() ? "cannot be read" : text;
}

[[noreturn]] void fail(const std::string &name) {
  throw Error(name + ": " + error_text());
}

SourcePtr source_of(const Input &input) {
  const std::string_view bytes = input.memory();
  VipsSource *source = bytes.data() != nullptr
                           ? vips_source_new_from_memory(bytes.data(), bytes.size())
                           : vips_source_new_from_descriptor(input.file());
  if (source == nullptr) fail(input.name());
  return SourcePtr(source);
}

/// Opens a page by the loader of its kind, whatever the name of the file is.
VipsPtr open(const Input &input, const Header &header, int page, const HowToRead &how,
             VipsFailOn fail_on) {
  const SourcePtr source = source_of(input);
  constexpr VipsAccess kOnce = VIPS_ACCESS_SEQUENTIAL;
  VipsSource *from = source.get();
  VipsImage *image = nullptr;
  int failed = 1;
  switch (header.kind) {
    case Kind::png:
      failed = vips_pngload_source(from, &image, "access", kOnce, "fail_on", fail_on, nullptr);
      break;
    case Kind::jpeg:
      failed = vips_jpegload_source(from, &image, "access", kOnce, "fail_on", fail_on, nullptr);
      break;
    case Kind::jpeg2000:
      failed = vips_jp2kload_source(from, &image, "access", kOnce, "fail_on", fail_on, nullptr);
      break;
    case Kind::tiff:
      failed = vips_tiffload_source(from, &image, "access", kOnce, "fail_on", fail_on, "page", page,
                                    nullptr);
      break;
    case Kind::gif:
      failed = vips_gifload_source(from, &image, "access", kOnce, "fail_on", fail_on, "page", page,
                                   nullptr);
      break;
    case Kind::webp:
      failed = vips_webpload_source(from, &image, "access", kOnce, "fail_on", fail_on, "page", page,
                                    nullptr);
      break;
    case Kind::pdf: {
      const double own = header.pages[page].dpi;
      failed = vips_pdfload_source(from, &image, "access", kOnce, "fail_on", fail_on, "page", page,
                                   "dpi", own > 0 ? own : how.dpi, nullptr);
      break;
    }
    default:
      break;
  }
  if (failed) fail(input.name());
  return VipsPtr(image);
}

/// @throws Error when libvips has understood the file differently from its header
void compare(const Input &input, const Header &header, int page, const VipsImage *image) {
  const PageHeader &stated = header.pages[page];
  const auto size = [](int width, int height) {
    return std::to_string(width) + "x" + std::to_string(height);
  };
  // libvips enlarges the canvas of a GIF whose frames are larger.
  const bool is_same = header.kind == Kind::gif
                           ? image->Xsize >= stated.width && image->Ysize >= stated.height
                           : image->Xsize == stated.width && image->Ysize == stated.height;
  if (stated.width > 0 && !is_same)
    throw Error(input.name() + ": its header says " + size(stated.width, stated.height) +
                " pixels, but libvips reads " + size(image->Xsize, image->Ysize));
  // The other kinds have one; "pages" of JPEG 2000 are reductions.
  const int pages = vips_image_get_n_pages(const_cast<VipsImage *>(image));
  const int found = static_cast<int>(header.pages.size());
  const bool counts = header.kind == Kind::tiff || header.kind == Kind::gif ||
                      header.kind == Kind::webp || header.kind == Kind::pdf;
  if (counts && (pages > found || (pages < found && page >= pages)))
    throw Error(input.name() + ": it has " + std::to_string(found) + " pages, but libvips reads " +
                std::to_string(pages));
}

/// Whether the samples of the pixels need no conversion.
bool is_gray_or_rgb(const VipsImage *image) {
  const bool direct = image->BandFmt == VIPS_FORMAT_UCHAR || image->BandFmt == VIPS_FORMAT_USHORT;
  const bool rgb = image->Type == VIPS_INTERPRETATION_sRGB ||
                   image->Type == VIPS_INTERPRETATION_RGB16 ||
                   image->Type == VIPS_INTERPRETATION_RGB;
  return direct && (image->Bands == 1 || (rgb && image->Bands == 3));
}

/// One or three samples a pixel, of 8 or 16 bit.
VipsPtr to_gray_or_rgb(VipsPtr image, const std::string &name) {
  VipsImage *next = nullptr;
  if (vips_image_hasalpha(image.get())) {
    const double white = image->BandFmt == VIPS_FORMAT_USHORT ? 65535 : 255;
    VipsArrayDouble *background = vips_array_double_new(&white, 1);
    const int failed =
        vips_flatten(image.get(), &next, "background", background, "max_alpha", white, nullptr);
    vips_area_unref(VIPS_AREA(background));
    if (failed) fail(name);
    image.reset(next);
  }
  if (!is_gray_or_rgb(image.get())) {
    if (vips_colourspace(image.get(), &next, VIPS_INTERPRETATION_sRGB, nullptr) != 0) fail(name);
    image.reset(next);
  }
  if (image->Bands != 1 && image->Bands != 3)
    throw Error(name + ": " + std::to_string(image->Bands) +
                " samples a pixel; only 1 and 3 are supported");
  return image;
}

/// Keeps the ICC profile of the levels.
void take_profile(VipsImage *image, PageLevels &levels) {
  const void *profile = nullptr;
  std::size_t size = 0;
  if (vips_image_get_typeof(image, VIPS_META_ICC_NAME) != 0 &&
      vips_image_get_blob(image, VIPS_META_ICC_NAME, &profile, &size) == 0)
    keep_profile(levels, profile, size, image->Bands);
}

/// Decodes from top to bottom until an error comes or, if `stop_at_warning`, a warning.
/// @return the number of rows that are right
template <typename T>
int decode_rows(VipsImage *from, Image &image, bool stop_at_warning) {
  constexpr int kRows = 16;
  const Plane<T> to = image.plane<T>();
  const RegionPtr region(vips_region_new(from));
  const std::size_t warnings = warnings_here->size();
  for (int y = 0; y < to.height; y += kRows) {
    const VipsRect part{0, y, to.width, std::min(kRows, to.height - y)};
    if (vips_region_prepare(region.get(), &part) != 0) return y;
    if (stop_at_warning && warnings_here->size() > warnings) return y;
    for (int row = y; row < y + part.height; ++row) {
      const auto *samples = reinterpret_cast<const T *>(VIPS_REGION_ADDR(region.get(), 0, row));
      luma_row(samples, from->Bands, to.width, to.row(row));
      keep_colour(image, samples, from->Bands, 0, row, to.width);
    }
  }
  return to.height;
}

int decode_into(VipsImage *source, Image &image, bool stop_at_warning) {
  const int depth = source->BandFmt == VIPS_FORMAT_USHORT ? 16 : 8;
  image.shape(source->Xsize, source->Ysize, depth);
  return depth == 16 ? decode_rows<std::uint16_t>(source, image, stop_at_warning)
                     : decode_rows<std::uint8_t>(source, image, stop_at_warning);
}

/// Files store 300 dpi as 11811 pixels a metre, so a value this close to a whole number is rounded.
double dpi(double per_mm) {
  const double dpi = per_mm * kMmPerInch;
  if (!std::isfinite(dpi) || dpi < kLeastDpi) return 0;
  return std::fabs(dpi - std::round(dpi)) < 0.02 ? std::round(dpi) : dpi;
}

/// Decodes the pixels of a PNG or JPEG without libvips, which is faster.
/// @return false for damaged and special ones; those must be left to libvips
bool decode_plain(const Input &input, const Header &header, const VipsImage *source, Image &image) {
  if (source->BandFmt != VIPS_FORMAT_UCHAR) return false;
  if (header.kind == Kind::jpeg) {
    const JpegDecoded result = salvage_jpeg(input, image);
    return result.decoded && result.messages.empty();
  }
  if (header.kind != Kind::png) return false;
  image.shape(source->Xsize, source->Ysize, 8);
  try {
    return decode_plain_png(input.memory(), image);
  } catch (const std::bad_alloc &) {  // libvips needs less memory
    return false;
  }
}

struct Decoded {
  int orientation = 1;
  int rows = 0;
  std::string problem;  ///< why rows are missing, or ""
};

/// Decodes a page until the first damage.
Decoded decode(const Input &input, const Header &header, int page, const HowToRead &how,
               VipsFailOn fail_on, Image &image) {
  VipsPtr source = open(input, header, page, how, fail_on);
  compare(input, header, page, source.get());
  check_size(input.name(), source->Xsize, source->Ysize);
  const int orientation = vips_image_get_orientation(source.get());
  image.resolution = {};
  if (header.has_resolution) image.resolution = {dpi(source->Xres), dpi(source->Yres)};
  const VipsBandFormat format = source->BandFmt;
  const VipsImage *const in_file = source.get();
  source = to_gray_or_rgb(std::move(source), input.name());
  if (image.colour && source->BandFmt == format) take_profile(source.get(), *image.colour);
  if (source.get() == in_file && fail_on == VIPS_FAIL_ON_WARNING &&
      decode_plain(input, header, source.get(), image))
    return {orientation, image.height, ""};
  const int rows = decode_into(source.get(), image, fail_on == VIPS_FAIL_ON_NONE);
  if (rows == image.height) return {orientation, rows, ""};
  const std::string text = error_text();
  return {orientation, rows, text};
}

/// A second, lenient attempt at a damaged page.
Decoded salvage(const Input &input, const Header &header, int page, const HowToRead &how,
                const Decoded &strict, Image &image) {
  if (header.kind == Kind::tiff) {
    Decoded result = strict;
    result.rows = salvage_tiff(input, header, page, image);
    vips_error_clear();
    return result;
  }
  // libvips fills what is missing of a JPEG with gray. All rows are there after the first scan if
  // there are several.
  if (header.kind == Kind::jpeg && !header.progressive) return strict;
  warnings_here->clear();
  Image second;
  second.colour = image.colour;
  Decoded lenient = decode(input, header, page, how, VIPS_FAIL_ON_NONE, second);
  vips_error_clear();
  if (lenient.rows <= strict.rows) return strict;
  lenient.problem = strict.problem;
  image.shape(second.width, second.height, second.depth);
  std::memcpy(image.memory.data(), second.memory.data(), second.bytes());
  image.resolution = second.resolution;
  return lenient;
}

/// A JPEG that libvips refuses. Its messages come from libjpeg.
/// @return whether it was decoded
bool second_jpeg(const Input &input, bool keep_rest, Image &image, Reading &reading) {
  const JpegDecoded result = salvage_jpeg(input, image);
  if (!result.decoded || result.messages.empty()) return false;
  if (!result.damaged) {
    reading.warnings = result.messages;
    return true;
  }
  if (!keep_rest) throw Error(input.name() + ": " + result.messages[0]);
  if (result.rows == 0) throw Error(input.name() + ": nothing to salvage: " + result.messages[0]);
  reading = {.rows = image.height, .rows_kept = result.rows, .damage = result.messages[0]};
  whiten_rows(image, result.rows, image.height);
  return true;
}

int decode_now(const Input &input, const Header &header, int page, const HowToRead &how,
               Image &image, Reading &reading) {
  const Collect collect(reading.warnings);
  Decoded result;
  bool opened = false;
  try {
    result = decode(input, header, page, how, VIPS_FAIL_ON_WARNING, image);
    opened = true;
  } catch (const Error &error) {
    if (!how.salvage) throw;
    result.problem = std::string(error.what()).substr(input.name().size() + 2);
  }
  if (result.problem.empty()) return result.orientation;
  if (opened && header.kind == Kind::jpeg && second_jpeg(input, how.salvage, image, reading))
    return result.orientation;
  if (!how.salvage) throw Error(input.name() + ": " + result.problem);
  const Decoded kept = salvage(input, header, page, how, result, image);
  if (kept.rows == 0) throw Error(input.name() + ": nothing to salvage: " + kept.problem);
  reading.damage = kept.problem;
  reading.rows = image.height;
  reading.rows_kept = kept.rows;
  reading.warnings.clear();  // they repeat the damage
  if (header.kind != Kind::tiff) whiten_rows(image, kept.rows, image.height);
  return kept.orientation;
}

/// libvips has one list of errors for all threads. So a page that fails is decoded again, alone.
std::shared_mutex decoding;
std::mutex turn;  ///< lets a thread that wants to be alone go first

}  // namespace

void start_decoding(const char *program) {
  if (VIPS_INIT(program) != 0) fail(program);
  // Parallelism is over pages, and each page is read once.
  vips_concurrency_set(1);
  vips_cache_set_max(0);
  g_log_set_handler("VIPS", G_LOG_LEVEL_WARNING, on_warning, nullptr);
}

int decode_page(const Input &input, const Header &header, int page, const HowToRead &how,
                Image &image, Reading &reading) {
  {
    std::unique_lock next(turn);
    const std::shared_lock with_others(decoding);
    next.unlock();
    try {
      return decode_now(input, header, page, {how.dpi, false}, image, reading);
    } catch (const Error &) {
      reading = {};
    }
  }
  const std::lock_guard next(turn);
  const std::unique_lock alone(decoding);
  vips_error_clear();
  return decode_now(input, header, page, how, image, reading);
}

std::string read_facts(const Input &input, const Header &header, Image &image) {
  std::unique_lock next(turn);
  const std::shared_lock with_others(decoding);
  next.unlock();
  std::vector<std::string> warnings;
  const Collect collect(warnings);
  try {
    const VipsPtr source = open(input, header, 0, {}, VIPS_FAIL_ON_WARNING);
    compare(input, header, 0, source.get());
    if (!warnings.empty()) return "its header is unusual";
    if (vips_image_get_orientation(source.get()) > 1) return "not upright";
    image.width = source->Xsize;
    image.height = source->Ysize;
    if (!is_gray_or_rgb(source.get())) return "neither gray nor RGB";
    image.depth = source->BandFmt == VIPS_FORMAT_USHORT ? 16 : 8;
    image.resolution = {};
    if (header.has_resolution) image.resolution = {dpi(source->Xres), dpi(source->Yres)};
    return "";
  } catch (const Error &) {  // which decode_page() reports
    return "its header cannot be read";
  }
}

}  // namespace cudascan::scan
