// SPDX-License-Identifier: LGPL-2.1-or-later
// The pages of files that hold lists: TIFF, GIF and WebP.
#include <algorithm>
#include <set>

#include "common/error.h"
#include "header.h"

namespace cudascan::scan {
namespace {

/// Reads numbers of either byte order; `ok` becomes false at the end of the input.
class Numbers {
 public:
  Numbers(Input &input, bool big_endian) : input_(input), big_(big_endian) {}
  std::uint64_t operator()(std::uint64_t at, int bytes) {
    std::uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) {
      const int byte = input_.at(big_ ? at + i : at + bytes - 1 - i);
      if (byte < 0) ok = false;
      value = value << 8 | static_cast<std::uint64_t>(byte & 0xff);
    }
    return value;
  }
  bool ok = true;

 private:
  Input &input_;
  bool big_;
};

/// Layout of a directory: classic TIFF, or BigTIFF.
struct Layout {
  int offset_bytes, count_bytes, entry_bytes, value_at;
};

constexpr Layout kClassic{4, 2, 12, 8}, kBig{8, 8, 20, 12};
constexpr std::uint64_t kMostEntries = 4096, kMostSide = 0x7fffffff;

/// The size that a directory states. @return where the next one is, 0 = none
std::uint64_t read_directory(Numbers &number, const Layout &layout, std::uint64_t at,
                             PageHeader &page) {
  constexpr std::uint64_t kWidth = 256, kHeight = 257, kShort = 3, kLong8 = 16;
  const std::uint64_t entries = number(at, layout.count_bytes);
  if (entries == 0 || entries > kMostEntries) number.ok = false;
  at += layout.count_bytes;
  for (std::uint64_t i = 0; number.ok && i < entries; ++i, at += layout.entry_bytes) {
    const std::uint64_t tag = number(at, 2), type = number(at + 2, 2);
    if (tag != kWidth && tag != kHeight) continue;
    const std::uint64_t value = number(at + layout.value_at, type == kShort   ? 2
                                                             : type == kLong8 ? 8
                                                                              : 4);
    if (value > kMostSide) number.ok = false;
    (tag == kWidth ? page.width : page.height) = static_cast<int>(value);
  }
  if (page.width < 1 || page.height < 1) number.ok = false;
  return number(at, layout.offset_bytes);
}

/// Moves past blocks of up to 255 bytes and the empty block after them.
/// @return false when the input ends before
bool skip_blocks(Input &input, std::uint64_t &at) {
  for (;;) {
    const int length = input.at(at);
    if (length < 0) return false;
    at += 1 + static_cast<std::uint64_t>(length);
    if (length == 0) return true;
  }
}

/// Bytes of a colour table by the flags before it.
std::uint64_t table_bytes(int flags) {
  return flags & 0x80 ? std::uint64_t{3} << ((flags & 7) + 1) : 0;
}

}  // namespace

void read_tiff_header(Input &input, Header &header) {
  Numbers number(input, input.at(0) == 'M');
  const bool is_big = number(2, 2) == 43;
  const Layout &layout = is_big ? kBig : kClassic;
  std::set<std::uint64_t> seen;
  for (std::uint64_t at = number(is_big ? 8 : 4, layout.offset_bytes); at != 0;) {
    PageHeader page;
    const bool is_new = seen.insert(at).second;
    at = read_directory(number, layout, at, page);
    if (!number.ok || !is_new) {
      const std::size_t found = header.pages.size();
      header.problem = "the list of pages is damaged";
      if (found > 0)
        header.problem += " after page " + std::to_string(found) + "; later pages are lost";
      return;
    }
    header.pages.push_back(page);
  }
}

void read_gif_header(Input &input, Header &header) {
  Numbers number(input, false);
  const PageHeader page{.width = static_cast<int>(number(6, 2)),
                        .height = static_cast<int>(number(8, 2))};
  std::uint64_t at = 13 + table_bytes(input.at(10));
  for (;;) {
    const int block = input.at(at++);
    if (block == ';') return;
    if (block == ',') {
      header.pages.push_back(page);
      at += 9 + table_bytes(input.at(at + 8)) + 1;
    } else if (block == '!') {
      ++at;
    } else {
      break;
    }
    if (!skip_blocks(input, at)) break;
  }
  // A page that is not complete is reported when it is read.
  if (header.pages.empty()) header.problem = "the file is truncated";
}

void read_webp_header(Input &input, Header &header) {
  Numbers number(input, false);
  PageHeader page;
  std::uint64_t at = 12;
  const std::uint64_t end = std::min<std::uint64_t>(8 + number(4, 4), input.size());
  while (at + 8 <= end) {
    const std::string type = input.part(at, 4);
    const std::uint64_t size = number(at + 4, 4), data = at + 8;
    if (type == "VP8X") {
      page.width = 1 + static_cast<int>(number(data + 4, 3));
      page.height = 1 + static_cast<int>(number(data + 7, 3));
    } else if (type == "ANMF") {
      header.pages.push_back(page);
    } else if (type == "VP8 " && header.pages.empty()) {
      page = {.width = static_cast<int>(number(data + 6, 2) & 0x3fff),
              .height = static_cast<int>(number(data + 8, 2) & 0x3fff)};
      header.pages.push_back(page);
    } else if (type == "VP8L" && header.pages.empty()) {
      const std::uint64_t bits = number(data + 1, 4);
      page = {.width = 1 + static_cast<int>(bits & 0x3fff),
              .height = 1 + static_cast<int>((bits >> 14) & 0x3fff)};
      header.pages.push_back(page);
    }
    at = data + size + size % 2;
  }
  if (header.pages.empty()) header.problem = "the file is truncated";
}

}  // namespace cudascan::scan
