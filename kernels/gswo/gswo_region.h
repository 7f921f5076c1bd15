// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// `parallel region` in stand-alone programs: images stay on the device from kernel to kernel.
///
/// Pixels are copied to the device when a kernel needs them there, and back when the region ends.
/// Before host code that may read or change images gswo-cc writes host_reads() or host_changes():
/// these copy new pixels back, and the second forgets what the device has.
#pragma once
#include "gswo_images.h"

namespace gswo {

class Region {
 public:
  Region() : outer_(current()), root_(outer_ && !outer_->root_->paused_ ? outer_->root_ : this) {
    current() = this;
  }
  /// Also when the function returns early or throws.
  ~Region() {
    current() = outer_;
    root_ == this ? images_.finish() : images().end_scratch(this);
  }
  Region(const Region &) = delete;
  Region &operator=(const Region &) = delete;

  /// Images whose pixels nobody needs after the region.
  template <class... Images>
  void scratch(const Images &...images) {
    (scratch_.push_back((const void *)images), ...);
  }

  /// The pixels that a kernel reads.
  /// @param row  row(y) is the address of the first pixel of a row
  /// @param exact  the kernel may try to read others, and gets the nearest of these
  template <class Image, class Row>
  Plane read(const char *name, const Image &image, long long y0, long long y1, long long x0,
             long long x1, const Row &row, bool exact = false) {
    const Area area{(int)y0, (int)y1, (int)x0, (int)x1};
    if (area.empty()) return Plane{nullptr, 0, 0, 0, area.x0, area.y0};
    DeviceImage &i = find(image, area, row);
    images().make_readable({&i}, area, name);
    return i.plane(exact ? area : i.store->room);
  }

  /// The pixels that a kernel writes.
  /// @param all  it writes all of them
  template <class Image, class Row>
  Plane write(const char *name, const Image &image, long long y0, long long y1, long long x0,
              long long x1, const Row &row, bool all) {
    const Area area{(int)y0, (int)y1, (int)x0, (int)x1};
    DeviceImage &i = find(image, area, row);
    images().make_writable({&i}, area, all, name);
    return i.plane(i.store->room);
  }

  /// The same for the slices z0 to z1 of a volume.
  /// @param row  row(z, y) is the address of the first pixel of a row
  template <class Image, class Row>
  Volume read_volume(const char *name, const Image &image, long long z0, long long z1, long long y0,
                     long long y1, long long x0, long long x1, const Row &row, bool exact = false) {
    const Area area{(int)y0, (int)y1, (int)x0, (int)x1};
    if (area.empty() || z1 < z0)
      return Volume{{nullptr, 0, 0, 0, area.x0, area.y0}, 0, nullptr, 0, (int)z0};
    const auto slices = find_slices(image, area, z0, z1, row);
    images().make_readable(slices, area, name);
    images().set_shape((int)z0, (int)z1, area);
    return images().volume(name, slices, exact ? area : slices[0]->store->room, (int)z0);
  }
  template <class Image, class Row>
  Volume write_volume(const char *name, const Image &image, long long z0, long long z1,
                      long long y0, long long y1, long long x0, long long x1, const Row &row,
                      bool all) {
    const Area area{(int)y0, (int)y1, (int)x0, (int)x1};
    const auto slices = find_slices(image, area, z0, z1, row);
    images().make_writable(slices, area, all, name, (int)z0);
    return images().volume(name, slices, slices[0]->store->room, (int)z0);
  }

  /// A copy of the first values of an array on the device, until the kernel is launched.
  template <class T>
  const T *table(const char *name, const T *values, std::size_t count) {
    return (const T *)images().table(name, values, count * sizeof(T));
  }

  /// After the launch of a kernel.
  void launched(const char *kernel) { images().launched(kernel); }

  // Before host code, whether a region is open or not:
  static void reads() {
    if (Region *const region = current()) region->images().write_back();
  }
  static void changes() {
    if (!current()) return;
    Region &root = *current()->root_;
    root.images_.write_back();
    root.images_.clear();
    root.paused_ = true;
  }
  /// Before an array ceases to exist.
  static void drop(const void *array, std::size_t bytes) {
    if (current()) current()->images().drop((const char *)array, bytes);
  }

 private:
  static Region *&current() {
    static thread_local Region *region = nullptr;
    return region;
  }

  RegionImages &images() { return root_->images_; }

  template <class Image, class Row>
  DeviceImage &find(const Image &image, const Area &area, const Row &row) {
    root_->paused_ = false;
    DeviceImage &i = images().find(area, sizeof(*row(0)), row);
    mark(i, (const void *)image);
    return i;
  }
  template <class Image, class Row>
  RegionImages::Images find_slices(const Image &image, const Area &area, long long z0, long long z1,
                                   const Row &row) {
    RegionImages::Images all;
    for (long long z = z0; z <= z1; z++) {
      const auto row_of = [&](long long y) { return row(z, y); };
      if constexpr (is_equal<Row>)
        all.push_back(&find(image, area, equal(row_of)));
      else
        all.push_back(&find(image, area, row_of));
    }
    return all;
  }

  void mark(DeviceImage &i, const void *image) const {
    for (const Region *r = this; r; r = r == root_ ? nullptr : r->outer_)
      for (const void *s : r->scratch_)
        if (s == image && !i.scratch) i.scratch = r;
  }

  Region *const outer_;
  Region *const root_;   ///< the one that has the images: the outermost that is open
  bool paused_ = false;  ///< unknown host code may be running
  RegionImages images_;  ///< if it is the root
  std::vector<const void *> scratch_;
};

/// Host code that may read images is about to run.
inline void host_reads() {
  Region::reads();
}
/// Host code that may read and change images is about to run.
inline void host_changes() {
  Region::changes();
}

/// Ends the images in an array of the host when the array's block ends.
class Ending {
 public:
  template <class Array>
  explicit Ending(const Array &array) : array_(&array), bytes_(sizeof(array)) {}
  ~Ending() { Region::drop(array_, bytes_); }
  Ending(const Ending &) = delete;
  Ending &operator=(const Ending &) = delete;

 private:
  const void *array_;
  std::size_t bytes_;
};

/// Copies images back before objects that may own their pixels are destroyed.
class Leaving {
 public:
  Leaving() = default;
  ~Leaving() { host_changes(); }
  Leaving(const Leaving &) = delete;
  Leaving &operator=(const Leaving &) = delete;
};

}  // namespace gswo
