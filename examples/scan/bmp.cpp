// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bmp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "common/error.h"
#include "levels.h"
#include "luma.h"

namespace cudascan::scan {
namespace {

constexpr std::uint64_t kFileHeader = 14;
constexpr unsigned kOldHeader = 12, kUsualHeader = 40;

using Rgb = std::array<std::uint8_t, 3>;

/// What the two headers say (BITMAPFILEHEADER and BITMAPINFOHEADER or one of its successors).
struct Layout {
  int width = 0, height = 0, bits = 0;
  bool from_top = false;
  unsigned compression = 0;
  std::uint64_t data = 0;
  Resolution resolution;
  std::array<std::uint32_t, 3> masks{};  ///< red, green, blue
  std::vector<Rgb> palette;

  std::uint64_t row_bytes() const { return (std::uint64_t{1} * width * bits + 31) / 32 * 4; }
};

std::uint32_t little(std::string_view bytes, std::size_t at, int count) {
  std::uint32_t value = 0;
  for (int i = count - 1; i >= 0; --i)
    value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0);
  return value;
}

/// The part of a pixel that a mask selects, 0 to 255.
std::uint8_t masked(std::uint32_t pixel, std::uint32_t mask) {
  if (mask == 0) return 0;
  const std::uint64_t most = mask >> std::countr_zero(mask);
  const std::uint64_t value = (pixel & mask) >> std::countr_zero(mask);
  return static_cast<std::uint8_t>((value * 255 + most / 2) / most);
}

void read_palette(const Input &input, std::uint64_t at, int entry_bytes, unsigned used,
                  Layout &layout) {
  const unsigned entries = used > 0 ? std::min(used, 256U) : 1U << layout.bits;
  const std::string bytes = input.part(at, std::size_t{1} * entries * entry_bytes);
  layout.palette.assign(256, {});
  for (unsigned i = 0; i < entries; ++i) {
    const auto part = [&](int from) {
      return static_cast<std::uint8_t>(little(bytes, i * entry_bytes + from, 1));
    };
    layout.palette[i] = {part(2), part(1), part(0)};
  }
}

/// A positive number of pixels a metre as dots an inch, 0 = unknown.
double dpi(std::uint32_t per_metre) {
  constexpr double kMetresPerInch = 0.0254, kLeast = 30, kMost = 20000;
  const double value = per_metre * kMetresPerInch;
  return value >= kLeast && value <= kMost ? static_cast<int>(value * 10 + 0.5) / 10.0 : 0;
}

Layout read_layout(const Input &input) {
  const std::string bytes = input.part(0, 128);
  const auto number = [&](std::size_t at, int count) {
    return little(bytes, kFileHeader + at, count);
  };
  Layout layout;
  const unsigned size = number(0, 4);
  layout.data = little(bytes, 10, 4);
  std::int64_t width = 0, height = 0;
  unsigned used = 0;
  if (size == kOldHeader) {
    width = number(4, 2);
    height = number(6, 2);
    layout.bits = static_cast<int>(number(10, 2));
  } else {
    width = static_cast<std::int32_t>(number(4, 4));
    height = static_cast<std::int32_t>(number(8, 4));
    layout.bits = static_cast<int>(number(14, 2));
    layout.compression = number(16, 4);
    layout.resolution = {dpi(number(24, 4)), dpi(number(28, 4))};
    used = number(32, 4);
  }
  layout.from_top = height < 0;
  height = std::max(height, -height);
  constexpr std::int64_t kMost = 0x7fffffff;
  if (width < 1 || height < 1 || height > kMost || layout.data < kFileHeader + size)
    throw Error(input.name() + ": the header of the BMP file is damaged");
  layout.width = static_cast<int>(width);
  layout.height = static_cast<int>(height);
  constexpr unsigned kMasks = 3, kMasksWithAlpha = 6;
  const bool has_masks = layout.compression == kMasks || layout.compression == kMasksWithAlpha;
  if (layout.bits <= 8) {
    read_palette(input, kFileHeader + size, size == kOldHeader ? 3 : 4, used, layout);
  } else if (has_masks) {
    for (int i = 0; i < 3; ++i) layout.masks[i] = number(kUsualHeader + 4 * i, 4);
  } else if (layout.bits == 16) {
    layout.masks = {0x7c00, 0x3e0, 0x1f};
  } else {
    layout.masks = {0xff0000, 0xff00, 0xff};
  }
  constexpr std::array kBits = {1, 4, 8, 16, 24, 32};
  const bool is_known = std::find(kBits.begin(), kBits.end(), layout.bits) != kBits.end();
  if (!is_known || (layout.compression != 0 && !has_masks) || (has_masks && layout.bits < 16))
    throw Error(input.name() + ": a BMP file with " + std::to_string(layout.bits) +
                " bits a pixel and compression " + std::to_string(layout.compression) +
                " is not supported; save it without compression");
  return layout;
}

void colour_row(const Layout &layout, const unsigned char *bytes, Rgb *to) {
  for (int x = 0; x < layout.width; ++x) {
    if (layout.bits <= 8) {
      const int per_byte = 8 / layout.bits, shift = 8 - layout.bits * (x % per_byte + 1);
      to[x] = layout.palette[(bytes[x / per_byte] >> shift) & ((1 << layout.bits) - 1)];
      continue;
    }
    std::uint32_t pixel = 0;
    std::memcpy(&pixel, bytes + std::size_t{1} * x * (layout.bits / 8), layout.bits / 8);
    const auto &[red, green, blue] = layout.masks;
    to[x] = {masked(pixel, red), masked(pixel, green), masked(pixel, blue)};
  }
}

}  // namespace

bool is_bmp(std::string_view first) {
  constexpr std::array<std::uint32_t, 7> kSizes = {12, 40, 52, 56, 64, 108, 124};
  return first.starts_with("BM") && first.size() > 26 &&
         std::find(kSizes.begin(), kSizes.end(), little(first, kFileHeader, 4)) != kSizes.end();
}

void read_bmp_header(Input &input, Header &header) {
  const Layout layout = read_layout(input);
  header.pages.push_back({.width = layout.width, .height = layout.height});
}

void read_bmp_page(Input &input, bool salvage, Image &image, Reading &reading) {
  const Layout layout = read_layout(input);
  image.shape(layout.width, layout.height, 8);
  image.resolution = layout.resolution;
  const auto to = image.plane<std::uint8_t>();
  std::vector<unsigned char> bytes(layout.row_bytes());
  std::vector<Rgb> row(layout.width);
  const bool has_colour =
      layout.bits > 8 || std::any_of(layout.palette.begin(), layout.palette.end(),
                                     [](const Rgb &c) { return c[0] != c[1] || c[1] != c[2]; });
  for (int i = 0; i < layout.height; ++i) {
    const std::size_t got =
        input.read(layout.data + i * layout.row_bytes(), bytes.data(), bytes.size());
    // The last row may lack its padding.
    if (got >= (std::size_t{1} * layout.width * layout.bits + 7) / 8) {
      const int y = layout.from_top ? i : layout.height - 1 - i;
      colour_row(layout, bytes.data(), row.data());
      luma_row(row[0].data(), 3, layout.width, to.row(y));
      // A palette of grays makes a gray page.
      if (has_colour) keep_colour(image, row[0].data(), 3, 0, y, layout.width);
      continue;
    }
    const std::string damage =
        "the data ends in row " + std::to_string(i + 1) + " of " + std::to_string(layout.height);
    if (!salvage || i == 0) throw Error(input.name() + ": " + damage);
    reading = {.rows = layout.height, .rows_kept = i, .damage = damage};
    // Most bitmaps begin with the lowest row.
    if (layout.from_top)
      whiten_rows(image, i, layout.height);
    else
      whiten_rows(image, 0, layout.height - i);
    return;
  }
}

}  // namespace cudascan::scan
