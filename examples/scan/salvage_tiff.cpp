// SPDX-License-Identifier: LGPL-2.1-or-later
#include "salvage_tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "levels.h"
#include "luma.h"

namespace cudascan::scan {
namespace {

/// An input as libtiff reads it.
struct TiffInput {
  const Input &input;
  std::uint64_t at = 0;

  static TiffInput &of(thandle_t handle) { return *static_cast<TiffInput *>(handle); }
  static tmsize_t read(thandle_t handle, void *to, tmsize_t size) {
    TiffInput &place = of(handle);
    const std::size_t got = place.input.read(place.at, to, static_cast<std::size_t>(size));
    place.at += got;
    return static_cast<tmsize_t>(got);
  }
  static tmsize_t write(thandle_t, void *, tmsize_t) { return 0; }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffInput &place = of(handle);
    const std::uint64_t base = whence == SEEK_CUR   ? place.at
                               : whence == SEEK_END ? place.input.size()
                                                    : 0;
    return place.at = base + offset;
  }
  static toff_t size(thandle_t handle) { return of(handle).input.size(); }
  static int close(thandle_t) { return 0; }
};

/// Pixels as libtiff's RGBA functions give them, the lowest row first. Transparency becomes white:
/// the samples are multiplied by alpha already.
void take(const std::vector<std::uint32_t> &raster, int raster_width, int rows, int left, int top,
          Image &page) {
  const auto to = page.plane<std::uint8_t>();
  const int width = std::min(raster_width, to.width - left);
  for (int i = 0; i < rows && top + i < to.height; ++i) {
    const std::uint32_t *from = raster.data() + std::size_t{1} * (rows - 1 - i) * raster_width;
    for (int x = 0; x < width; ++x) {
      const unsigned paper = 255 - TIFFGetA(from[x]);
      const std::uint8_t samples[] = {
          static_cast<std::uint8_t>(std::min(255U, TIFFGetR(from[x]) + paper)),
          static_cast<std::uint8_t>(std::min(255U, TIFFGetG(from[x]) + paper)),
          static_cast<std::uint8_t>(std::min(255U, TIFFGetB(from[x]) + paper))};
      luma_row(samples, 3, 1, to.row(top + i) + left + x);
      keep_colour(page, samples, 3, left + x, top + i, 1);
    }
  }
}

int salvage_strips(TIFF *tiff, Image &page) {
  const auto to = page.plane<const std::uint8_t>();
  std::uint32_t rows = 0;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ROWSPERSTRIP, &rows);
  const int step = static_cast<int>(std::clamp<std::uint32_t>(rows, 1, to.height));
  std::vector<std::uint32_t> raster(std::size_t{1} * to.width * step);
  int kept = 0;
  for (int top = 0; top < to.height; top += step) {
    if (!TIFFReadRGBAStripExt(tiff, top, raster.data(), 1)) continue;
    const int here = std::min(step, to.height - top);
    take(raster, to.width, here, 0, top, page);
    kept += here;
  }
  return kept;
}

int salvage_tiles(TIFF *tiff, Image &page) {
  const auto to = page.plane<const std::uint8_t>();
  std::uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_TILELENGTH, &height);
  constexpr std::uint32_t kMost = 32768;
  if (width < 1 || height < 1 || width > kMost || height > kMost) return 0;
  std::vector<std::uint32_t> raster(std::size_t{1} * width * height);
  const int across = static_cast<int>(width), down = static_cast<int>(height);
  int kept = 0;
  for (int top = 0; top < to.height; top += down) {
    bool whole = true;
    for (int left = 0; left < to.width; left += across) {
      if (TIFFReadRGBATileExt(tiff, left, top, raster.data(), 1))
        take(raster, across, down, left, top, page);
      else
        whole = false;
    }
    if (whole) kept += std::min(down, to.height - top);
  }
  return kept;
}

}  // namespace

int salvage_tiff(const Input &input, const Header &header, int page, Image &image) {
  TiffInput place{input};
  const std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff(
      TIFFClientOpen("page", "rm", &place, TiffInput::read, TiffInput::write, TiffInput::seek,
                     TiffInput::close, TiffInput::size, nullptr, nullptr),
      TIFFClose);
  std::uint32_t width = 0, height = 0;
  if (!tiff || !TIFFSetDirectory(tiff.get(), static_cast<std::uint16_t>(page)) ||
      !TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) ||
      !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height))
    return 0;
  const PageHeader &stated = header.pages[page];
  if (static_cast<int>(width) != stated.width || static_cast<int>(height) != stated.height)
    return 0;
  image.shape(stated.width, stated.height, 8);
  whiten_rows(image, 0, image.height);
  return TIFFIsTiled(tiff.get()) ? salvage_tiles(tiff.get(), image)
                                 : salvage_strips(tiff.get(), image);
}

}  // namespace cudascan::scan
