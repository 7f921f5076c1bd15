// SPDX-License-Identifier: LGPL-2.1-or-later
#include "encode_levels.h"

#include <vips/vips.h>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
// libjpeg needs the two above.
#include <jpeglib.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "png_data.h"
#include "png_memory.h"
#include "tiff_memory.h"

namespace cudascan::scan {
namespace {

constexpr double kMetresPerInch = 0.0254;

const Resolution &resolution_of(const PageLevels &page) {
  return page.planes[0].resolution;
}

bool has_resolution(const PageLevels &page) {
  return resolution_of(page).x > 0 && resolution_of(page).y > 0;
}

std::size_t row_bytes(const PageLevels &page) {
  return std::size_t{1} * page.width() * page.samples * (page.depth() / 8);
}

void take_row(const PageLevels &page, int y, char *to) {
  if (page.depth() == 8)
    interleave(page, y, reinterpret_cast<std::uint8_t *>(to));
  else
    interleave(page, y, reinterpret_cast<std::uint16_t *>(to));
}

/// All samples, one pixel after another.
std::string interleaved(const PageLevels &page) {
  const std::size_t stride = row_bytes(page);
  std::string samples(stride * page.height(), '\0');
  for (int y = 0; y < page.height(); ++y) take_row(page, y, samples.data() + stride * y);
  return samples;
}

/// Samples of 16 bits: the high byte comes first in PNG.
void swap_bytes(std::uint8_t *row, std::size_t bytes) {
  if constexpr (std::endian::native == std::endian::little)
    for (std::size_t i = 0; i < bytes; i += 2) std::swap(row[i], row[i + 1]);
}

void check_tiff_size(const PageLevels &page) {
  constexpr double kMost = std::numeric_limits<std::uint32_t>::max() - 1e6;
  if (1. * row_bytes(page) * page.height() > kMost)
    throw Error("a TIFF file cannot hold more than 4 GiB; use png");
}

void set_tags(TIFF *to, const PageLevels &page, int rows_per_strip) {
  TIFFSetField(to, TIFFTAG_IMAGEWIDTH, page.width());
  TIFFSetField(to, TIFFTAG_IMAGELENGTH, page.height());
  TIFFSetField(to, TIFFTAG_BITSPERSAMPLE, page.depth());
  TIFFSetField(to, TIFFTAG_SAMPLESPERPIXEL, page.samples);
  TIFFSetField(to, TIFFTAG_PHOTOMETRIC,
               page.samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
  TIFFSetField(to, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(to, TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  TIFFSetField(to, TIFFTAG_ROWSPERSTRIP, rows_per_strip);
  if (has_resolution(page)) {
    TIFFSetField(to, TIFFTAG_RESOLUTIONUNIT, RESUNIT_INCH);
    TIFFSetField(to, TIFFTAG_XRESOLUTION, resolution_of(page).x);
    TIFFSetField(to, TIFFTAG_YRESOLUTION, resolution_of(page).y);
  }
  if (!page.profile.empty())
    TIFFSetField(to, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(page.profile.size()),
                 page.profile.data());
}

void write_text(TIFF *to, std::uint32_t tag, const std::string &text) {
  if (!text.empty()) TIFFSetField(to, tag, text.c_str());
}

/// A box of a JP2 file (ITU-T T.800, I.4): its length and type, then its contents.
std::string box(std::string_view type, const std::string &contents) {
  std::string bytes;
  const std::size_t length = contents.size() + 8;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(length >> shift & 255);
  return bytes.append(type) + contents;
}

/// Pixels a metre as numerator, denominator and power of ten: N dpi are N / 254 * 10^4.
void put_resolution(double dpi, std::string &fractions, std::string &powers) {
  constexpr int kMost = 65535;
  const bool whole = dpi == std::round(dpi) || dpi * 100 > kMost;
  const int number = std::clamp(static_cast<int>(std::lround(whole ? dpi : dpi * 100)), 1, kMost);
  for (const int part : {number, 254})
    fractions += {static_cast<char>(part >> 8), static_cast<char>(part & 255)};
  powers += static_cast<char>(whole ? 4 : 2);
}

/// The boxes of some bytes: calls `use` with where each begins, its type and its contents.
template <typename Use>
void for_boxes(std::string_view bytes, Use use) {
  for (std::size_t at = 0; at + 8 <= bytes.size();) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < 4; ++i)
      size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
    if (size < 8 || size > bytes.size() - at) return;
    use(at, bytes.substr(at + 4, 4), bytes.substr(at + 8, size - 8));
    at += size;
  }
}

/// Adds to the header of a JP2 file what libvips leaves out: the resolution (I.5.3.7.1), and the
/// ICC profile in place of the name of a colour space (I.5.3.3).
void complete_header(std::string &file, const PageLevels &page) {
  std::size_t begin = 0;
  std::string header, made;
  for_boxes(file, [&](std::size_t at, std::string_view type, std::string_view contents) {
    if (type != "jp2h") return;
    begin = at;
    header = contents;
  });
  if (header.empty()) return;
  for_boxes(header, [&](std::size_t, std::string_view type, std::string_view contents) {
    const std::string by_profile("\2\0\0", 3);
    const bool replace = type == "colr" && !page.profile.empty();
    made += box(type, replace ? by_profile + page.profile : std::string(contents));
  });
  if (has_resolution(page)) {
    std::string fractions, powers;
    put_resolution(resolution_of(page).y, fractions, powers);
    put_resolution(resolution_of(page).x, fractions, powers);
    made += box("res ", box("resc", fractions + powers));
  }
  file.replace(begin, header.size() + 8, box("jp2h", made));
}

struct Unref {
  void operator()(void *object) const { g_object_unref(object); }
};

}  // namespace

std::string encode_plain_tiff(const PageLevels &page, const FileTags &tags) {
  check_tiff_size(page);
  constexpr std::size_t kStrip = 65536;
  const std::size_t stride = row_bytes(page);
  const int rows = std::clamp(static_cast<int>(kStrip / stride), 1, page.height());
  TiffMemory file;
  {
    const TiffPtr tiff = file.open("wlm");
    check_tiff(tiff != nullptr, "begin a file");
    set_tags(tiff.get(), page, rows);
    TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    write_text(tiff.get(), TIFFTAG_SOFTWARE, tags.software);
    write_text(tiff.get(), TIFFTAG_DOCUMENTNAME, tags.document);
    write_text(tiff.get(), TIFFTAG_PAGENAME, tags.page);
    file.bytes.reserve(stride * page.height() + kStrip);
    std::string strip(stride * rows, '\0');
    for (int top = 0; top < page.height(); top += rows) {
      const int here = std::min(rows, page.height() - top);
      for (int i = 0; i < here; ++i) take_row(page, top + i, strip.data() + stride * i);
      const auto size = static_cast<tmsize_t>(stride * here);
      check_tiff(TIFFWriteEncodedStrip(tiff.get(), top / rows, strip.data(), size) == size,
                 "write the page");
    }
    check_tiff(TIFFFlush(tiff.get()) == 1, "end the file");
  }
  return std::move(file.bytes);
}

std::string encode_deflate_tiff(const PageLevels &page) {
  check_tiff_size(page);
  TiffMemory file;
  {
    const TiffPtr tiff = file.open("wlm");
    check_tiff(tiff != nullptr, "begin a file");
    set_tags(tiff.get(), page, page.height());
    TIFFSetField(tiff.get(), TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    TIFFSetField(tiff.get(), TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
    std::string samples = interleaved(page);
    check_tiff(TIFFWriteEncodedStrip(tiff.get(), 0, samples.data(),
                                     static_cast<tmsize_t>(samples.size())) >= 0,
               "compress the page");
    check_tiff(TIFFFlush(tiff.get()) == 1, "end the file");
  }
  return std::move(file.bytes);
}

std::string encode_png(const PageLevels &page) {
  PngMemory file;
  png_structp png = file.png;
  file.begin(page.width(), page.height(), page.depth(),
             page.samples == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, resolution_of(page));
  if (!page.profile.empty())
    png_set_iCCP(png, file.info, "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(page.profile.data()),
                 static_cast<png_uint_32>(page.profile.size()));
  const int pixel_bytes = page.samples * page.depth() / 8;
  PngRows rows(row_bytes(page), pixel_bytes, page.height());
  for (int y = 0; y < page.height(); ++y) {
    take_row(page, y, reinterpret_cast<char *>(rows.row()));
    if (page.depth() == 16) swap_bytes(rows.row(), row_bytes(page));
    rows.add();
  }
  file.end(deflate_levels(rows.filtered()));
  return std::move(file.bytes);
}

std::string encode_jpeg(const PageLevels &page, int quality, bool profile) {
  jpeg_compress_struct to{};
  jpeg_error_mgr errors{};
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  const auto destroy = [&](void *) {
    jpeg_destroy_compress(&to);
    std::free(bytes);
  };
  to.err = jpeg_std_error(&errors);
  errors.error_exit = [](j_common_ptr info) {
    char text[JMSG_LENGTH_MAX];
    info->err->format_message(info, text);
    throw Error(std::string("libjpeg: ") + text);
  };
  const std::unique_ptr<void, decltype(destroy)> owner(&to, destroy);
  jpeg_create_compress(&to);
  jpeg_mem_dest(&to, &bytes, &size);
  to.image_width = static_cast<JDIMENSION>(page.width());
  to.image_height = static_cast<JDIMENSION>(page.height());
  to.input_components = page.samples;
  to.in_color_space = page.samples == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&to);
  jpeg_set_quality(&to, quality, TRUE);
  if (page.samples == 3 && quality >= kFullColour)
    to.comp_info[0].h_samp_factor = to.comp_info[0].v_samp_factor = 1;
  to.dct_method = JDCT_ISLOW;
  to.optimize_coding = TRUE;
  if (has_resolution(page)) {
    to.density_unit = 1;
    to.X_density = static_cast<UINT16>(std::lround(resolution_of(page).x));
    to.Y_density = static_cast<UINT16>(std::lround(resolution_of(page).y));
  }
  jpeg_start_compress(&to, TRUE);
  if (profile && !page.profile.empty())
    jpeg_write_icc_profile(&to, reinterpret_cast<const JOCTET *>(page.profile.data()),
                           static_cast<unsigned>(page.profile.size()));
  std::string row(row_bytes(page), '\0');
  for (int y = 0; y < page.height(); ++y) {
    take_row(page, y, row.data());
    JSAMPROW samples = reinterpret_cast<JSAMPROW>(row.data());
    jpeg_write_scanlines(&to, &samples, 1);
  }
  jpeg_finish_compress(&to);
  return {reinterpret_cast<char *>(bytes), size};
}

std::string encode_jp2(const PageLevels &page) {
  const std::string samples = interleaved(page);
  const bool wide = page.depth() == 16;
  const std::unique_ptr<VipsImage, Unref> image(
      vips_image_new_from_memory(samples.data(), samples.size(), page.width(), page.height(),
                                 page.samples, wide ? VIPS_FORMAT_USHORT : VIPS_FORMAT_UCHAR));
  void *bytes = nullptr;
  std::size_t size = 0;
  if (image) {
    image->Type = page.samples == 3 ? (wide ? VIPS_INTERPRETATION_RGB16 : VIPS_INTERPRETATION_sRGB)
                                    : (wide ? VIPS_INTERPRETATION_GREY16 : VIPS_INTERPRETATION_B_W);
    if (!page.profile.empty())
      vips_image_set_blob_copy(image.get(), VIPS_META_ICC_NAME, page.profile.data(),
                               page.profile.size());
  }
  if (!image || vips_jp2ksave_buffer(image.get(), &bytes, &size, "lossless", TRUE, nullptr) != 0) {
    const std::string why = vips_error_buffer();
    vips_error_clear();
    throw Error("JPEG 2000 cannot be written: " + why);
  }
  const std::unique_ptr<void, decltype(&g_free)> owner(bytes, g_free);
  std::string file(static_cast<char *>(bytes), size);
  complete_header(file, page);
  return file;
}

bool can_encode_jp2() {
  return vips_type_find("VipsOperation", "jp2ksave_buffer") != 0;
}

}  // namespace cudascan::scan
