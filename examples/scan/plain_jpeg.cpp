// SPDX-License-Identifier: LGPL-2.1-or-later
#include "plain_jpeg.h"

#include <array>
#include <cstring>

namespace cudascan::scan {
namespace {

constexpr int kStart = 0xd8, kEnd = 0xd9, kScan = 0xda, kRestarts = 0xdd, kBaseline = 0xc0;
constexpr int kJfif = 0xe0, kAdobe = 0xee, kRestart0 = 0xd0;

class Markers {
 public:
  Markers(const unsigned char *data, std::size_t size) : data_(data), size_(size) {}

  std::string check() {
    if (size_ < 4 || data_[0] != 0xff || data_[1] != kStart) return "no JPEG";
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
        return problem.empty() ? check_code() : problem;
      }
      if (const std::string problem = take(marker); !problem.empty()) return problem;
    }
  }

 private:
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
    if (marker == kBaseline) return check_frame();
    if (marker >= 0xc1 && marker <= 0xcf && marker != 0xc4) return "not baseline";
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

  std::string check_frame() {
    const unsigned char *at = data_ + begin_;
    if (components_ != 0) return "two frames";
    if (end_ - begin_ < 6 || end_ - begin_ != 6 + std::size_t{3} * at[5]) return "a wrong length";
    if (at[0] != 8) return "not 8 bits a sample";
    if (number(begin_ + 1) == 0 || number(begin_ + 3) == 0) return "no size";
    components_ = at[5];
    if (components_ != 1 && components_ != 3) return "neither gray nor YCbCr";
    for (int i = 0; i < components_; ++i) {
      ids_[i] = at[6 + 3 * i];
      const int sampling = at[7 + 3 * i];
      // Luma has the most samples.
      if ((i > 0 || components_ == 1) && sampling != 0x11) return "an unusual subsampling";
    }
    return "";
  }

  /// As libjpeg concludes whether colours are YCbCr.
  bool is_ycbcr() const {
    if (adobe_ >= 0) return adobe_ == 1;
    return jfif_ || (ids_[0] == 1 && ids_[1] == 2 && ids_[2] == 3);
  }

  std::string check_scan() const {
    const unsigned char *at = data_ + begin_;
    if (components_ == 0) return "no frame";
    if (components_ == 3 && !is_ycbcr()) return "colours other than YCbCr";
    if (end_ - begin_ != 4 + std::size_t{2} * components_ || at[0] != components_)
      return "several scans";
    const unsigned char *spectrum = at + 1 + 2 * components_;
    if (spectrum[0] != 0 || spectrum[1] != 63 || spectrum[2] != 0) return "not baseline";
    return "";
  }

  /// The code ends with the end of the file's picture; restarts come in their order.
  std::string check_code() {
    int restart = 0;
    for (;;) {
      const void *found = std::memchr(data_ + at_, 0xff, size_ - at_);
      if (!found) return "truncated";
      at_ = static_cast<std::size_t>(static_cast<const unsigned char *>(found) - data_) + 1;
      if (at_ == size_) return "truncated";
      const int marker = data_[at_++];
      if (marker == 0) continue;
      if (marker == kEnd) return "";
      if (restarts_ == 0 || marker != kRestart0 + restart) return "a marker within the picture";
      restart = (restart + 1) % 8;
    }
  }

  const unsigned char *data_;
  std::size_t size_, at_ = 0;
  std::size_t begin_ = 0, end_ = 0;  ///< of the segment that is looked at
  int components_ = 0;
  std::array<int, 3> ids_{};
  unsigned restarts_ = 0;
  bool jfif_ = false;
  int adobe_ = -1;
};

}  // namespace

std::string why_not_plain(const unsigned char *data, std::size_t size) {
  return Markers(data, size).check();
}

}  // namespace cudascan::scan
