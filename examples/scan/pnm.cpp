// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pnm.h"

#include <algorithm>
#include <cstring>

#include "common/error.h"
#include "levels.h"
#include "luma.h"

namespace cudascan::scan {
namespace {

constexpr int kMostLevels = 65535;

bool is_space(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

/// Reads the numbers of headers and of images in text.
class Words {
 public:
  Words(Input &input, std::uint64_t at) : at(at), input_(input) {}

  /// Moves past white space and comments, which go from # to the end of the line.
  void skip() {
    for (int c = input_.at(at); is_space(c) || c == '#'; c = input_.at(at)) {
      if (c == '#')
        while (c >= 0 && c != '\n' && c != '\r') c = input_.at(++at);
      else
        ++at;
    }
  }
  /// @return -1 if there is no number, or one above `most`
  int number(int most) {
    skip();
    long long value = -1;
    for (int c = input_.at(at); c >= '0' && c <= '9' && value <= most; c = input_.at(++at))
      value = std::max(value, 0LL) * 10 + (c - '0');
    return value > most ? -1 : static_cast<int>(value);
  }
  /// A single digit 0 or 1; digits need no space between them.
  int bit() {
    skip();
    const int c = input_.at(at);
    if (c != '0' && c != '1') return -1;
    ++at;
    return c - '0';
  }
  /// Moves past the white space that ends a header. Some programs write a comment before it.
  bool end_header() {
    if (input_.at(at) == '#')
      for (int c = 0; c >= 0 && c != '\n'; c = input_.at(at)) ++at;
    return is_space(input_.at(at++));
  }

  std::uint64_t at;

 private:
  Input &input_;
};

struct Layout {
  int type = 0;  ///< the digit after P
  int width = 0, height = 0, maximum = 1;
  std::uint64_t data = 0;

  bool is_text() const { return type <= 3; }
  bool is_bits() const { return type == 1 || type == 4; }
  int samples() const { return type == 3 || type == 6 ? 3 : 1; }
  int depth() const { return maximum > 255 ? 16 : 8; }
  std::uint64_t row_bytes() const {
    return is_bits() ? (std::uint64_t{1} * width + 7) / 8
                     : std::uint64_t{1} * width * samples() * (depth() / 8);
  }
};

bool read_layout(Input &input, std::uint64_t at, Layout &layout) {
  constexpr int kLargest = 0x7fffffff;
  if (input.at(at) != 'P') return false;
  layout.type = input.at(at + 1) - '0';
  if (layout.type < 1 || layout.type > 6) return false;
  Words words(input, at + 2);
  layout.width = words.number(kLargest);
  layout.height = words.number(kLargest);
  layout.maximum = layout.is_bits() ? 1 : words.number(kMostLevels);
  if (layout.width < 1 || layout.height < 1 || layout.maximum < 1) return false;
  if (!words.end_header()) return false;
  layout.data = words.at;
  return true;
}

/// Level of each value: white is 255 or 65535.
template <typename T>
std::vector<T> levels(int maximum) {
  std::vector<T> result(std::size_t{static_cast<T>(~T{0})} + 1, static_cast<T>(~T{0}));
  const unsigned white = static_cast<T>(~T{0}), half = static_cast<unsigned>(maximum) / 2;
  for (unsigned i = 0; i < static_cast<unsigned>(maximum); ++i)
    result[i] = static_cast<T>((i * white + half) / static_cast<unsigned>(maximum));
  return result;
}

/// One row of samples. @return false when the data ends, or is no number
template <typename T>
bool read_row(Input &input, const Layout &layout, Words &words, std::vector<unsigned char> &bytes,
              std::vector<T> &row) {
  const int count = layout.width * layout.samples();
  if (layout.is_text()) {
    for (int i = 0; i < count; ++i) {
      const int value = layout.is_bits() ? words.bit() : words.number(layout.maximum);
      if (value < 0) return false;
      row[i] = static_cast<T>(layout.is_bits() ? 1 - value : value);
    }
    return true;
  }
  if (input.read(words.at, bytes.data(), bytes.size()) != bytes.size()) return false;
  words.at += bytes.size();
  if (layout.is_bits()) {
    for (int x = 0; x < count; ++x) row[x] = (bytes[x / 8] >> (7 - x % 8)) & 1 ? 0 : 1;
  } else if constexpr (sizeof(T) == 1) {
    std::memcpy(row.data(), bytes.data(), bytes.size());
  } else {
    for (int x = 0; x < count; ++x) row[x] = static_cast<T>(bytes[2 * x] << 8 | bytes[2 * x + 1]);
  }
  return true;
}

/// @return the number of rows that were there
template <typename T>
int read_rows(Input &input, const Layout &layout, Image &image) {
  const Plane<T> to = image.plane<T>();
  Words words(input, layout.data);
  std::vector<unsigned char> bytes(layout.is_text() ? 0 : layout.row_bytes());
  std::vector<T> row(std::size_t{1} * layout.width * layout.samples());
  const std::vector<T> level = levels<T>(layout.maximum);
  const bool scale = layout.maximum != static_cast<T>(~T{0});
  for (int y = 0; y < to.height; ++y) {
    if (!read_row(input, layout, words, bytes, row)) return y;
    if (scale)
      for (T &sample : row) sample = level[sample];
    luma_row(row.data(), layout.samples(), to.width, to.row(y));
    keep_colour(image, row.data(), layout.samples(), 0, y, to.width);
  }
  return to.height;
}

}  // namespace

void read_pnm_header(Input &input, Header &header) {
  for (std::uint64_t at = 0;;) {
    Layout layout;
    if (!read_layout(input, at, layout)) {
      if (at == 0) throw Error(input.name() + ": the header of the PNM file is damaged");
      header.problem = "after page " + std::to_string(header.pages.size()) + " there are " +
                       std::to_string(input.size() - at) + " bytes that are no page";
      return;
    }
    header.pages.push_back({.width = layout.width, .height = layout.height, .offset = at});
    if (layout.is_text()) return;  // a text holds one image
    // An image that is not complete is reported when it is read.
    const std::uint64_t left = input.size() - std::min(layout.data, input.size());
    if (left / layout.row_bytes() < static_cast<std::uint64_t>(layout.height)) return;
    at = layout.data + layout.row_bytes() * static_cast<std::uint64_t>(layout.height);
    while (is_space(input.at(at))) ++at;
    if (at >= input.size()) return;
  }
}

void read_pnm_page(Input &input, const PageHeader &page, bool salvage, Image &image,
                   Reading &reading) {
  Layout layout;
  if (!read_layout(input, page.offset, layout))
    throw Error(input.name() + ": the header of the PNM file is damaged");
  image.shape(layout.width, layout.height, layout.depth());
  const int rows = image.depth == 8 ? read_rows<std::uint8_t>(input, layout, image)
                                    : read_rows<std::uint16_t>(input, layout, image);
  if (rows == layout.height) return;
  const std::string damage =
      "the data ends in row " + std::to_string(rows + 1) + " of " + std::to_string(layout.height);
  if (!salvage || rows == 0) throw Error(input.name() + ": " + damage);
  reading = {.rows = layout.height, .rows_kept = rows, .damage = damage};
  whiten_rows(image, rows, layout.height);
}

}  // namespace cudascan::scan
