// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "common/error.h"
#include "common/plane.h"
#include "kernels/cuda_resources.h"

namespace cudascan::scan {

/// Host memory that only grows, so that a worker allocates once for pages of one size; pinned if it
/// is copied to a GPU, as long as memory can be pinned. Growing loses the contents; if there is not
/// enough memory, it throws and is empty.
class Memory {
 public:
  explicit Memory(bool pinned = false) : is_pinned_(pinned) {}

  void *reserve(std::size_t bytes) {
    if (is_pinned_) {
      try {
        return pinned_.reserve(bytes);
      } catch (const Error &) {  // a limit, or the GPU has failed; copies are slower without
        is_pinned_ = false;
      }
    }
    if (bytes > size_) {
      pageable_.reset();
      size_ = 0;  // the next line may throw
      pageable_.reset(::operator new (bytes, std::align_val_t{kAlignment}));
      size_ = bytes;
    }
    return pageable_.get();
  }
  bool is_pinned() const { return is_pinned_; }
  void *data() const { return is_pinned_ ? pinned_.data() : pageable_.get(); }

  static constexpr std::size_t kAlignment = 64;

 private:
  struct Free {
    void operator()(void *data) const { ::operator delete (data, std::align_val_t{kAlignment}); }
  };
  bool is_pinned_;
  std::unique_ptr<void, Free> pageable_;
  std::size_t size_ = 0;
  cuda::PinnedBuffer pinned_;
};

inline constexpr double kMmPerInch = 25.4, kUsualDpi = 300;

/// Pixels per inch; 0 = unknown.
struct Resolution {
  double x = 0, y = 0;
};

/// Which levels a page has.
enum class Content {
  gray,
  bilevel,  ///< black and white, both
  white,    ///< one level, not below the middle: a page without ink
  black,    ///< one level, below the middle
  unknown,  ///< nobody has looked yet
};

struct PageLevels;
class CodedPage;

/// A page in gray levels, in host memory.
struct Image {
  explicit Image(bool pinned = false) : memory(pinned) {}

  int width = 0, height = 0;
  int depth = 8;  ///< bits of a sample, 8 or 16
  Content content = Content::gray;
  Resolution resolution;
  Memory memory;
  /// Where a page that is read leaves its colours, too; usually empty: they are not wanted.
  std::shared_ptr<PageLevels> colour;
  /// The page as its file has it, for a GPU that decodes it; its pixels are not in `memory` yet.
  /// Usually empty.
  std::shared_ptr<CodedPage> coded;
  /// Memory for the bytes of `coded`, for the next page, too.
  std::shared_ptr<Memory> file;

  std::ptrdiff_t stride() const {
    constexpr std::ptrdiff_t kTo = Memory::kAlignment;
    return (std::ptrdiff_t{1} * width * (depth / 8) + kTo - 1) / kTo * kTo;
  }
  std::size_t bytes() const { return static_cast<std::size_t>(stride()) * height; }

  /// Sets the size and makes room.
  void shape(int new_width, int new_height, int new_depth) {
    width = new_width;
    height = new_height;
    depth = new_depth;
    memory.reserve(bytes());
  }

  /// T is std::uint8_t or std::uint16_t, as the depth says; it may be const.
  template <typename T>
  Plane<T> plane() const {
    return {static_cast<T *>(memory.data()), width, height, stride()};
  }
};

/// Makes rows white, also in `colour`, from `begin` to the one before `end`.
void whiten_rows(Image &image, int begin, int end);

/// Turns a page upright whose orientation is this number, 1 to 8, as in EXIF and TIFF.
/// @param spare  takes the place of the page's memory; its contents are lost
void turn_upright(Image &image, int orientation, Image &spare);

/// Sets `content`. Reads rows until it is known; for most pages the first row is enough.
void find_content(Image &image);

}  // namespace cudascan::scan
