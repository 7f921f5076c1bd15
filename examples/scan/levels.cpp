// SPDX-License-Identifier: LGPL-2.1-or-later
#include "levels.h"

#include <string_view>

namespace cudascan::scan {

void make_room_for_colour(Image &page) {
  PageLevels &levels = *page.colour;
  if (levels.samples == 3 && levels.width() == page.width && levels.height() == page.height &&
      levels.depth() == page.depth)
    return;
  levels.samples = 3;
  for (Image &plane : levels.planes) {
    plane.shape(page.width, page.height, page.depth);
    whiten_rows(plane, 0, plane.height);
  }
}

// ICC.1:2022, table 15: the colour space of the data is in bytes 16 to 19 of the header.
void keep_profile(PageLevels &levels, const void *profile, std::size_t size, int samples) {
  constexpr std::size_t kHeader = 128, kSpace = 16;
  const std::string_view bytes(static_cast<const char *>(profile), size);
  if (size >= kHeader && bytes.substr(kSpace, 4) == (samples == 3 ? "RGB " : "GRAY"))
    levels.profile = bytes;
}

void copy_plane(const Image &from, Image &to) {
  to.shape(from.width, from.height, from.depth);
  to.resolution = from.resolution;
  to.content = from.content;
  std::memcpy(to.memory.data(), from.memory.data(), from.bytes());
}

const PageLevels &to_8_bits(const PageLevels &from, PageLevels &to) {
  to.samples = from.samples;
  to.profile = from.profile;
  for (int i = 0; i < from.samples; ++i) {
    const Image &plane = from.planes[i];
    Image &narrow = to.planes[i];
    narrow.shape(plane.width, plane.height, 8);
    narrow.resolution = plane.resolution;
    for (int y = 0; y < plane.height; ++y) {
      const std::uint16_t *in = plane.plane<const std::uint16_t>().row(y);
      std::uint8_t *out = narrow.plane<std::uint8_t>().row(y);
      for (int x = 0; x < plane.width; ++x)
        out[x] = static_cast<std::uint8_t>((in[x] * 255U + 32767) / 65535);
    }
  }
  return to;
}

}  // namespace cudascan::scan
