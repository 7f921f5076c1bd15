// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images in memory that detects reads and writes outside of them.
#pragma once
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

#include "common/plane.h"

namespace cudascan::test {

/// The memory layout of an image.
struct Layout {
  int padding = 0;     ///< bytes from the end of a row to the next row
  int offset = 0;      ///< bytes from a 256-byte boundary to the first sample
  bool flush = false;  ///< the last sample ends at an inaccessible page; offset has no effect
  int unit = 1;        ///< the stride is rounded up to a multiple of this many bytes
};

/// Zeroed pages between two inaccessible ones: reading or writing past either end crashes.
class FencedMemory {
 public:
  explicit FencedMemory(std::size_t bytes)
      : page_(sysconf(_SC_PAGESIZE)), size_((bytes + page_ - 1) / page_ * page_) {
    void *pages = mmap(nullptr, size_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
    begin_ = static_cast<unsigned char *>(pages) + page_;
    if (mprotect(begin_, size_, PROT_READ | PROT_WRITE) != 0)
      throw std::system_error(errno, std::generic_category(), "mprotect");
  }
  ~FencedMemory() { munmap(begin_ - page_, size_ + 2 * page_); }
  FencedMemory(const FencedMemory &) = delete;
  FencedMemory &operator=(const FencedMemory &) = delete;

  unsigned char *begin() const { return begin_; }
  unsigned char *end() const { return begin_ + size_; }
  std::size_t size() const { return size_; }

 private:
  std::size_t page_, size_;
  unsigned char *begin_;
};

/// An image with guard bytes around it and between its rows. Every byte, including the samples,
/// starts as `fill`. After two runs with different fills, unwritten samples of the output differ.
template <typename T>
class Image {
 public:
  Image(int width, int height, Layout layout = {}, T maximum = std::numeric_limits<T>::max(),
        unsigned char fill = 0xa5)
      : stride_((static_cast<int>(width * sizeof(T) + round_up(layout.padding)) + layout.unit - 1) /
                layout.unit * layout.unit),
        extent_(stride_ * (height - 1) + width * sizeof(T)),
        memory_(layout.flush ? extent_ : extent_ + round_up(layout.offset) + 2 * kGuard),
        data_(layout.flush ? memory_.end() - extent_
                           : memory_.begin() + kGuard + round_up(layout.offset)),
        plane_{reinterpret_cast<T *>(data_), width, height, stride_, maximum},
        fill_(fill) {
    std::memset(memory_.begin(), fill, memory_.size());
  }
  Image(const std::vector<T> &samples, int width, int height, Layout layout = {},
        T maximum = std::numeric_limits<T>::max(), unsigned char fill = 0xa5)
      : Image(width, height, layout, maximum, fill) {
    for (int y = 0; y < height; ++y)
      std::copy_n(samples.begin() + std::size_t(y) * width, width, plane_.row(y));
  }

  Plane<T> plane() { return plane_; }
  Plane<const T> plane() const { return plane_; }
  int width() const { return plane_.width; }
  int height() const { return plane_.height; }
  T at(int x, int y) const { return plane_.row(y)[x]; }

  std::vector<T> samples() const {
    std::vector<T> result;
    for (int y = 0; y < height(); ++y)
      result.insert(result.end(), plane_.row(y), plane_.row(y) + width());
    return result;
  }

  /// All memory of the image, including guards.
  const FencedMemory &memory() const { return memory_; }
  /// The offset of the first sample in it.
  std::size_t offset() const { return data_ - memory_.begin(); }

  /// Whether only samples have changed.
  testing::AssertionResult guards_intact() const {
    const unsigned char *p = memory_.begin();
    for (int y = 0; y <= height(); ++y) {
      const auto row = y < height() ? data_ + y * stride_ : memory_.end();
      for (; p < row; ++p)
        if (*p != fill_)
          return testing::AssertionFailure()
                 << "byte " << p - data_ << " from the first sample of " << width() << "x"
                 << height() << ", stride " << stride_ << ", was written";
      p = row + width() * sizeof(T);
    }
    return testing::AssertionSuccess();
  }

 private:
  static constexpr int kGuard = 512;
  static std::ptrdiff_t round_up(int bytes) { return (bytes + sizeof(T) - 1) & -sizeof(T); }

  std::ptrdiff_t stride_;
  std::size_t extent_;
  FencedMemory memory_;
  unsigned char *data_;
  Plane<T> plane_;
  unsigned char fill_;
};

/// Compares bits: -0 and +0 differ, and NaN equals itself.
template <typename T>
bool same_sample(T a, T b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Whether two results are equal. The message has the first difference and the number of
/// differences.
template <typename T>
testing::AssertionResult same(const std::vector<T> &a, const std::vector<T> &b, int width) {
  if (a.size() != b.size())
    return testing::AssertionFailure() << a.size() << " and " << b.size() << " samples";
  std::size_t first = a.size(), n = 0;
  for (std::size_t i = a.size(); i-- > 0;)
    if (!same_sample(a[i], b[i])) first = i, ++n;
  if (n == 0) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << n << " of " << a.size() << " samples differ, the first at (" << first % width << ", "
         << first / width << "): " << +a[first] << " and " << +b[first];
}

}  // namespace cudascan::test
