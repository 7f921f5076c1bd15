// SPDX-License-Identifier: LGPL-2.1-or-later
#include "layers.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "encode.h"
#include "encode_levels.h"

namespace cudascan::scan {
namespace {

enum Type { kShort = 3, kLong = 4, kRational = 5, kUndefined = 7 };

/// Little-endian numbers.
void put(std::string &to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> (8 * i) & 255);
}

/// A TIFF 6.0 file that is written from its beginning to its end: the data of each image, then its
/// directory.
class TiffFile {
 public:
  TiffFile() : file_("II*\0\0\0\0\0", 8) {}

  /// Tags must be added in ascending order.
  void add(int tag, Type type, std::vector<std::uint64_t> values) {
    entries_.push_back({tag, type, std::move(values)});
  }
  void add(int tag, const std::string &bytes) {
    std::vector<std::uint64_t> values;
    for (const char byte : bytes) values.push_back(static_cast<unsigned char>(byte));
    add(tag, kUndefined, std::move(values));
  }
  /// A positive number with three digits after the point.
  void add_rational(int tag, double value) {
    add(tag, kRational, {static_cast<std::uint64_t>(std::llround(value * 1000)), 1000});
  }
  /// @return where the data is
  std::uint64_t add_data(const std::string &data) {
    const std::uint64_t at = file_.size();
    file_ += data;
    file_.resize(file_.size() + file_.size() % 2);
    return at;
  }
  void end_directory() {
    std::string directory, more;
    const std::uint64_t at = file_.size();
    const std::uint64_t end = at + 2 + 12 * entries_.size() + 4;
    put(directory, entries_.size(), 2);
    for (const Entry &entry : entries_) {
      const int size = entry.type == kShort ? 2 : entry.type == kUndefined ? 1 : 4;
      put(directory, entry.tag, 2);
      put(directory, entry.type, 2);
      put(directory, entry.values.size() / (entry.type == kRational ? 2 : 1), 4);
      std::string values;
      for (const std::uint64_t value : entry.values) put(values, value, size);
      values.resize(std::max<std::size_t>(4, values.size() + values.size() % 2));
      if (values.size() == 4) {
        directory += values;
      } else {
        put(directory, end + more.size(), 4);
        more += values;
      }
    }
    std::string offset;
    put(offset, at, 4);
    file_.replace(next_, 4, offset);
    next_ = end - 4;
    put(directory, 0, 4);
    file_ += directory + more;
    entries_.clear();
  }
  std::string take() { return std::move(file_); }

 private:
  struct Entry {
    int tag;
    Type type;
    std::vector<std::uint64_t> values;
  };
  std::string file_;
  std::size_t next_ = 4;  ///< where the offset of the next directory belongs
  std::vector<Entry> entries_;
};

/// Adds an image of JPEG as one strip.
void add_jpeg(TiffFile &file, const PageLevels &page, int quality, const Resolution &resolution) {
  const std::string data = encode_jpeg(page, quality, false);
  const std::uint64_t at = file.add_data(data);
  const bool colour = page.samples == 3;
  const std::uint64_t subsampling = quality >= kFullColour ? 1 : 2;
  file.add(256, kLong, {static_cast<std::uint64_t>(page.width())});
  file.add(257, kLong, {static_cast<std::uint64_t>(page.height())});
  file.add(258, kShort, std::vector<std::uint64_t>(page.samples, 8));
  file.add(259, kShort, {7});                                // Compression: JPEG
  file.add(262, kShort, {std::uint64_t{colour ? 6U : 1U}});  // YCbCr, or 0 is black
  file.add(273, kLong, {at});
  file.add(277, kShort, {static_cast<std::uint64_t>(page.samples)});
  file.add(278, kLong, {static_cast<std::uint64_t>(page.height())});
  file.add(279, kLong, {data.size()});
  file.add_rational(282, resolution.x);
  file.add_rational(283, resolution.y);
  file.add(296, kShort, {2});
  if (colour) file.add(530, kShort, {subsampling, subsampling});
  if (!page.profile.empty()) file.add(34675, page.profile);
  file.end_directory();
}

Resolution known(const Resolution &resolution) {
  return resolution.x > 0 && resolution.y > 0 ? resolution : Resolution{kUsualDpi, kUsualDpi};
}

/// The means of blocks that are kept; the others are white. The last blocks may be incomplete.
void reduce_kept(const PageLevels &page, const KeptParts &parts, int by, PageLevels &to) {
  to.samples = page.samples;
  to.profile = page.profile;
  const int width = (page.width() + by - 1) / by, height = (page.height() + by - 1) / by;
  for (int i = 0; i < page.samples; ++i) {
    to.planes[i].shape(width, height, 8);
    const auto from = page.planes[i].plane<const std::uint8_t>();
    const auto out = to.planes[i].plane<std::uint8_t>();
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x) {
        int sum = 0, count = 0;
        for (int row = y * by; row < std::min(page.height(), (y + 1) * by); ++row)
          for (int column = x * by; column < std::min(page.width(), (x + 1) * by); ++column) {
            sum += parts.has(column, row) ? from.row(row)[column] : 255;
            ++count;
          }
        out.row(y)[x] = static_cast<std::uint8_t>(sum / count);
      }
  }
}

}  // namespace

int reduction_of(const KeptParts &parts, double dpi) {
  constexpr double kPictureDpi = 100, kInkDpi = 150;
  return parts.has_ink ? std::clamp(static_cast<int>(dpi / kInkDpi), 1, 2)
                       : std::clamp(static_cast<int>(dpi / kPictureDpi), 1, 3);
}

std::string encode_jpeg_layer(const PageLevels &page, int quality) {
  TiffFile file;
  add_jpeg(file, page, quality, known(page.planes[0].resolution));
  return file.take();
}

std::string encode_layers(const Image &text, const PageLevels &page, const KeptParts &parts,
                          int quality) {
  Image ink;
  copy_plane(text, ink);
  for (int y = 0; y < ink.height; ++y) {
    std::uint8_t *row = ink.plane<std::uint8_t>().row(y);
    const std::uint8_t *kept = parts.row(std::min(y / parts.by, parts.height - 1));
    for (int x = 0; x < ink.width; ++x)
      if (kept[std::min(x / parts.by, parts.width - 1)]) row[x] = 255;
  }
  const std::string strip = group4_of(ink);
  const Resolution resolution = known(text.resolution);
  TiffFile file;
  const std::uint64_t at = file.add_data(strip);
  file.add(254, kLong, {4});  // NewSubfileType: a mask of the next image
  file.add(256, kLong, {static_cast<std::uint64_t>(ink.width)});
  file.add(257, kLong, {static_cast<std::uint64_t>(ink.height)});
  file.add(258, kShort, {1});
  file.add(259, kShort, {4});  // Compression: CCITT group 4
  file.add(262, kShort, {0});  // 0 is white
  file.add(273, kLong, {at});
  file.add(277, kShort, {1});
  file.add(278, kLong, {static_cast<std::uint64_t>(ink.height)});
  file.add(279, kLong, {strip.size()});
  file.add_rational(282, resolution.x);
  file.add_rational(283, resolution.y);
  file.add(296, kShort, {2});
  file.end_directory();
  const int by = reduction_of(parts, resolution.x);
  PageLevels under;
  reduce_kept(page, parts, by, under);
  add_jpeg(file, under, quality, {resolution.x / by, resolution.y / by});
  return file.take();
}

void clean_around_ink(const Image &text, const KeptParts &parts, PageLevels &page) {
  constexpr int kColourless = 32;
  if (page.samples != 3) return;
  for (int y = 0; y < page.height(); ++y) {
    const std::uint8_t *ink = text.plane<const std::uint8_t>().row(y);
    const std::uint8_t *kept = parts.row(std::min(y / parts.by, parts.height - 1));
    std::uint8_t *red = page.planes[0].plane<std::uint8_t>().row(y);
    std::uint8_t *green = page.planes[1].plane<std::uint8_t>().row(y);
    std::uint8_t *blue = page.planes[2].plane<std::uint8_t>().row(y);
    for (int x = 0; x < page.width(); ++x) {
      if (ink[x] == 0 || kept[std::min(x / parts.by, parts.width - 1)] != kInk) continue;
      const auto [least, most] = std::minmax({red[x], green[x], blue[x]});
      if (most - least < kColourless) red[x] = green[x] = blue[x] = 255;
    }
  }
}

void put_text(const Image &text, const KeptParts &parts, PageLevels &page) {
  for (int i = 0; i < page.samples; ++i)
    for (int y = 0; y < page.height(); ++y) {
      const std::uint8_t *ink = text.plane<const std::uint8_t>().row(y);
      std::uint8_t *row = page.planes[i].plane<std::uint8_t>().row(y);
      const std::uint8_t *kept = parts.row(std::min(y / parts.by, parts.height - 1));
      for (int x = 0; x < page.width(); ++x)
        if (!kept[std::min(x / parts.by, parts.width - 1)]) row[x] = ink[x];
    }
}

}  // namespace cudascan::scan
