// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_jpeg.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cudascan::scan {
namespace {

constexpr int kStart = 0xd8, kEnd = 0xd9, kScan = 0xda, kQuantization = 0xdb, kRestarts = 0xdd;
constexpr int kBaseline = 0xc0, kHuffman = 0xc4, kJfif = 0xe0, kAdobe = 0xee, kRestart0 = 0xd0;
constexpr std::size_t kLargest = 1 << 28;  // bytes

class PlainJpeg {
 public:
  PlainJpeg(const unsigned char *data, std::size_t size, unsigned char *bytes,
            pages::JpegCode &code)
      : data_(data), size_(size), bytes_(bytes), code_(code) {}

  std::string read() {
    if (size_ < 4 || data_[0] != 0xff || data_[1] != kStart) return "no JPEG";
    if (size_ > kLargest) return "too large";
    at_ = 2;
    for (;;) {
      const int marker = next_marker();
      if (marker < 0) return "a marker is missing";
      if (size_ - at_ < 2) return "truncated";
      const std::size_t length = number(at_);
      if (length < 2 || length > size_ - at_) return "truncated";
      begin_ = at_ + 2;
      end_ = at_ + length;
      at_ = end_;
      if (marker == kScan) {
        const std::string problem = check_scan();
        return problem.empty() ? take_code() : problem;
      }
      if (const std::string problem = take(marker); !problem.empty()) return problem;
    }
  }

 private:
  struct Component {
    int id, across, down, quantization;
  };

  unsigned number(std::size_t at) const { return data_[at] << 8 | data_[at + 1]; }

  int next_marker() {
    if (size_ - at_ < 2 || data_[at_] != 0xff) return -1;
    while (at_ < size_ && data_[at_] == 0xff) ++at_;
    if (at_ == size_) return -1;
    const int marker = data_[at_++];
    // Those without a length do not belong between the others.
    return marker == 0 || marker == 1 || (marker >= kRestart0 && marker <= kEnd) ? -1 : marker;
  }

  std::string take(int marker) {
    const std::size_t length = end_ - begin_;
    if (marker == kBaseline) return take_frame();
    if (marker == kHuffman) return take_tables();
    if (marker >= 0xc1 && marker <= 0xcf) return "not baseline";
    if (marker == kQuantization) return take_quantization();
    if (marker == kRestarts) {
      if (length != 2) return "a wrong length";
      restarts_ = number(begin_);
    } else if (marker == kJfif) {
      jfif_ = jfif_ || (length >= 5 && std::memcmp(data_ + begin_, "JFIF", 5) == 0);
    } else if (marker == kAdobe && length >= 12 && std::memcmp(data_ + begin_, "Adobe", 5) == 0) {
      adobe_ = data_[begin_ + 11];
    }
    return "";
  }

  std::string take_quantization() {
    for (std::size_t at = begin_; at < end_;) {
      const int precision = data_[at] >> 4, id = data_[at] & 15;
      const std::size_t length = 1 + 64 * (std::size_t{1} + precision);
      if (precision > 1 || id > 3 || length > end_ - at) return "an unusual table";
      has_quantization_[id] = true;
      at += length;
    }
    return "";
  }

  std::string take_tables() {
    constexpr std::size_t kCounts = 17;
    for (std::size_t at = begin_; at < end_;) {
      const int id = data_[at] & 15;
      const bool dc = data_[at] < 16;
      if (id > 1 || data_[at] >= 32 || end_ - at < kCounts) return "an unusual table";
      pages::HuffmanTable table;
      std::copy_n(data_ + at + 1, table.counts.size(), table.counts.begin());
      std::size_t symbols = 0;
      for (const int count : table.counts) symbols += count;
      if (symbols > std::min(table.symbols.size(), end_ - at - kCounts)) return "an unusual table";
      std::copy_n(data_ + at + kCounts, symbols, table.symbols.begin());
      if (!pages::is_valid(table, dc)) return "an unusual table";
      (dc ? code_.dc_tables : code_.ac_tables)[id] = table;
      (dc ? has_dc_ : has_ac_)[id] = true;
      at += kCounts + symbols;
    }
    return "";
  }

  std::string take_frame() {
    const unsigned char *at = data_ + begin_;
    if (count_ != 0) return "two frames";
    if (end_ - begin_ < 6 || end_ - begin_ != 6 + std::size_t{3} * at[5]) return "a wrong length";
    if (at[0] != 8) return "not 8 bits a sample";
    height_ = number(begin_ + 1);
    width_ = number(begin_ + 3);
    if (width_ == 0 || height_ == 0) return "no size";
    count_ = at[5];
    if (count_ != 1 && count_ != 3) return "neither gray nor YCbCr";
    for (int i = 0; i < count_; ++i) {
      at = data_ + begin_ + 6 + 3 * i;
      components_[i] = {at[0], at[1] >> 4, at[1] & 15, at[2]};
      const auto &[id, across, down, quantization] = components_[i];
      // Luma has the most samples.
      const bool is_usual =
          i == 0 && count_ == 3
              ? across >= 1 && down >= 1 && across * down <= 4 && across != 3 && down != 3
              : across == 1 && down == 1;
      if (!is_usual) return "an unusual subsampling";
      if (quantization > 3) return "an unusual table";
    }
    return "";
  }

  /// As libjpeg concludes whether colours are YCbCr.
  bool is_ycbcr() const {
    if (jfif_) return true;
    if (adobe_ >= 0) return adobe_ == 1;
    return components_[0].id == 1 && components_[1].id == 2 && components_[2].id == 3;
  }

  std::string check_scan() {
    const unsigned char *at = data_ + begin_;
    if (count_ == 0) return "no frame";
    if (count_ == 3 && (!is_ycbcr() || (adobe_ >= 0 && adobe_ != 1)))
      return "colours other than YCbCr";
    if (end_ - begin_ != 4 + std::size_t{2} * count_ || at[0] != count_) return "several scans";
    for (int i = 0; i < count_; ++i) {
      const Component &component = components_[i];
      const int dc = at[2 + 2 * i] >> 4, ac = at[2 + 2 * i] & 15;
      if (at[1 + 2 * i] != component.id) return "an unusual scan";
      if (dc > 1 || ac > 1 || !has_dc_[dc] || !has_ac_[ac] ||
          !has_quantization_[component.quantization])
        return "a table is missing";
      const int blocks = component.across * component.down;
      code_.dc.insert(code_.dc.end(), blocks, static_cast<std::uint8_t>(dc));
      code_.ac.insert(code_.ac.end(), blocks, static_cast<std::uint8_t>(ac));
    }
    const unsigned char *spectrum = at + 1 + 2 * count_;
    return spectrum[0] == 0 && spectrum[1] == 63 && spectrum[2] == 0 ? "" : "not baseline";
  }

  /// Copies the code. It ends with the end of the file's picture; restarts come in their order.
  std::string take_code() {
    const auto units = [](unsigned samples, int of_luma) {
      return (samples + 8U * of_luma - 1) / (8U * of_luma);
    };
    const std::uint32_t all =
        units(width_, components_[0].across) * units(height_, components_[0].down);
    const std::uint32_t each = restarts_ == 0 ? all : restarts_;
    const auto unit = static_cast<std::uint32_t>(code_.dc.size());
    std::uint32_t done = 0, begin = 0;
    for (;;) {
      const void *found = std::memchr(data_ + at_, 0xff, size_ - at_);
      if (!found) return "truncated";
      const auto to = static_cast<std::size_t>(static_cast<const unsigned char *>(found) - data_);
      if (to + 1 == size_) return "truncated";
      const int marker = data_[to + 1];
      const std::size_t length = to - at_ + (marker == 0 ? 1 : 0);
      std::memcpy(bytes_ + code_.size, data_ + at_, length);
      code_.size += static_cast<std::uint32_t>(length);
      at_ = to + 2;
      if (marker == 0) continue;
      const auto restart = static_cast<int>(code_.segments.size() % 8);
      if (marker != kEnd && (restarts_ == 0 || marker != kRestart0 + restart))
        return "a marker within the picture";
      const std::uint32_t here = std::min(each, all - done);
      code_.segments.push_back({begin, code_.size, here * unit});
      begin = code_.size;
      done += here;
      if ((marker == kEnd) != (done == all)) return "data are missing, or there are too many";
      if (marker == kEnd) break;
    }
    std::memset(bytes_ + code_.size, 0, pages::JpegCode::kAfter);
    code_.bytes = bytes_;
    // Where all blocks have the same tables, nothing in the code tells them apart.
    const auto alike = [](const auto &used, const auto &tables) {
      return std::all_of(used.begin(), used.end(),
                         [&](int id) { return tables[id] == tables[used[0]]; });
    };
    if (alike(code_.dc, code_.dc_tables) && alike(code_.ac, code_.ac_tables)) {
      code_.dc.resize(1);
      code_.ac.resize(1);
    }
    return "";
  }

  const unsigned char *data_;
  std::size_t size_, at_ = 0;
  std::size_t begin_ = 0, end_ = 0;  ///< of the segment that is looked at
  unsigned char *bytes_;
  pages::JpegCode &code_;
  int count_ = 0;
  unsigned width_ = 0, height_ = 0;
  std::array<Component, 3> components_{};
  std::array<bool, 4> has_quantization_{};
  std::array<bool, 2> has_dc_{}, has_ac_{};
  unsigned restarts_ = 0;
  bool jfif_ = false;
  int adobe_ = -1;
};

}  // namespace

std::string read_plain_jpeg(const unsigned char *data, std::size_t size, unsigned char *bytes,
                            pages::JpegCode &code) {
  code = {};
  return PlainJpeg(data, size, bytes, code).read();
}

}  // namespace cudascan::scan
