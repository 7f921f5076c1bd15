// SPDX-License-Identifier: LGPL-2.1-or-later
#include "page_file.h"

#include <fcntl.h>
#include <tiffio.h>

#include <memory>

#include "common/error.h"
#include "open_file.h"

namespace cudascan::scan {
namespace {

constexpr float kUsualDpi = 300;

using Tiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Tiff open(const std::filesystem::path &path, int image) {
  OpenFile file = open_regular(path, O_RDONLY);
  if (!file) throw Error(path.string() + ": the file is gone");
  Tiff tiff(TIFFFdOpen(file.get(), path.c_str(), "rm"), TIFFClose);
  if (!tiff) throw Error(path.string() + ": cannot be read");
  file.release();  // TIFFClose() closes it
  if (image > 0 && !TIFFSetDirectory(tiff.get(), static_cast<std::uint16_t>(image)))
    throw Error(path.string() + ": cannot be read");
  return tiff;
}

}  // namespace

PageFile::PageFile(std::filesystem::path path, int image) : path_(std::move(path)), image_(image) {
  const Tiff tiff = open(path_, image);
  std::uint16_t compression = 0;
  float x = kUsualDpi, y = kUsualDpi;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  TIFFGetField(tiff.get(), TIFFTAG_COMPRESSION, &compression);
  packing = static_cast<Packing>(compression);
  const bool known =
      packing == Packing::group4 || packing == Packing::jpeg || packing == Packing::deflate;
  if (!known || TIFFNumberOfStrips(tiff.get()) != 1)
    throw Error(path_.string() + ": not a page written by this program");
  if (!TIFFGetField(tiff.get(), TIFFTAG_XRESOLUTION, &x) ||
      !TIFFGetField(tiff.get(), TIFFTAG_YRESOLUTION, &y))
    x = y = kUsualDpi;
  x_dpi = x;
  y_dpi = y;
  strip_bytes = TIFFRawStripSize(tiff.get(), 0);
  std::uint16_t per_pixel = 1, per_sample = 1;
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_SAMPLESPERPIXEL, &per_pixel);
  TIFFGetFieldDefaulted(tiff.get(), TIFFTAG_BITSPERSAMPLE, &per_sample);
  samples = per_pixel;
  bits = per_sample;
  std::uint32_t size = 0;
  const void *icc = nullptr;
  if (TIFFGetField(tiff.get(), TIFFTAG_ICCPROFILE, &size, &icc))
    profile.assign(static_cast<const char *>(icc), size);
  has_next = !TIFFLastDirectory(tiff.get());
}

std::string PageFile::strip() const {
  const Tiff tiff = open(path_, image_);
  std::string bytes(strip_bytes, '\0');
  const tmsize_t size = static_cast<tmsize_t>(bytes.size());
  if (TIFFReadRawStrip(tiff.get(), 0, bytes.data(), size) != size)
    throw Error(path_.string() + ": cannot be read");
  return bytes;
}

std::string PageFile::unpack() const {
  const Tiff tiff = open(path_, image_);
  std::string bits(std::size_t{(width + 7) / 8} * height, '\0');
  const tmsize_t size = static_cast<tmsize_t>(bits.size());
  if (TIFFReadEncodedStrip(tiff.get(), 0, bits.data(), size) != size)
    throw Error(path_.string() + ": cannot be read");
  return bits;
}

}  // namespace cudascan::scan
