// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// `parallel region` in stand-alone programs: images stay on the device from kernel to kernel.
///
/// An image is known by where its rows are, not by its name, so pointers may be exchanged. Of each
/// image the region knows an area that is valid on the device, and in it an area that is newer than
/// the host's pixels. Pixels are copied to the device when a kernel needs them there, and back when
/// the region ends. Before host code that may read or change images gswo-cc writes host_reads() or
/// host_changes(): these copy new pixels back, and the second forgets what the device has.
///
/// Images that share host memory are kept apart: before one is read, the other's new pixels are
/// copied back; when one is written, the other is no longer valid.
#pragma once
#include <memory>

#include "gswo_area.h"
#include "gswo_copy.h"
#include "gswo_volume.h"

namespace gswo {

/// A user's image and its pixels on the device.
struct DeviceImage {
  HostRows rows;
  std::size_t size = 0;  ///< bytes of a pixel
  Area used;             ///< all areas that kernels read or wrote
  Block memory;
  std::size_t pitch = 0;
  Area room;                        ///< the area that has memory
  int moves = 0;                    ///< how often it needed more
  Area valid;                       ///< not older than on the host
  Area dirty;                       ///< newer than on the host; a part of `valid`
  unsigned reader = 0, writer = 0;  ///< numbers of the last launches that read and wrote it
  const void *scratch = nullptr;    ///< the region that needs its pixels only until its end

  char *at(int y, int x) const {
    return memory.data + (std::size_t)(y - room.y0) * pitch + (std::size_t)(x - room.x0) * size;
  }
  Plane plane(const Area &a) const {
    return Plane{at(a.y0, a.x0), (long long)pitch, a.columns(), a.rows(), a.x0, a.y0};
  }
  char *host(int y, int x) const { return rows[y] + x * (std::ptrdiff_t)size; }

  void upload(const Area &a) const {
    Copier::get().upload(at(a.y0, a.x0), pitch, a.rows(), (std::size_t)a.columns() * size,
                         [&](int k) -> const char * { return host(a.y0 + k, a.x0); });
  }
  /// Copies new pixels back to the host.
  void write_back() {
    if (!dirty.empty())
      Copier::get().download(at(dirty.y0, dirty.x0), pitch, dirty.rows(),
                             (std::size_t)dirty.columns() * size,
                             [&](int k) { return host(dirty.y0 + k, dirty.x0); });
    dirty = {};
  }
  void forget() { valid = dirty = {}; }

  /// The first byte in use, and the byte after the last one.
  std::pair<const char *, const char *> ends() const {
    const auto [low, high] = rows.ends();
    return {low + used.x0 * (std::ptrdiff_t)size, high + (used.x1 + 1) * (std::ptrdiff_t)size};
  }
  bool shares_memory(const DeviceImage &other) const {
    const auto mine = ends(), others = other.ends();
    if (mine.second <= others.first || others.second <= mine.first) return false;
    return have_common_bytes(rows.spans(used.x0, used.x1, size),
                             other.rows.spans(other.used.x0, other.used.x1, other.size));
  }
};

class Region {
 public:
  Region() : outer_(current()), root_(outer_ && !outer_->root_->paused_ ? outer_->root_ : this) {
    current() = this;
  }
  /// Also when the function returns early or throws.
  ~Region() {
    current() = outer_;
    if (root_ == this) {
      finish();
    } else {
      for (const auto &i : root_->images_)
        if (i->scratch == this) i->forget(), i->scratch = nullptr;
    }
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
    DeviceImage &i = root_->find(area, sizeof(*row(0)), row);
    mark(i, (const void *)image);
    for (const auto &other : root_->images_)
      if (other.get() != &i && !other->dirty.empty() && other->shares_memory(i))
        other->write_back();
    root_->bring(i, area, name);
    i.reader = root_->launch_;
    return i.plane(exact ? area : i.room);
  }

  /// The pixels that a kernel writes.
  /// @param all  it writes all of them
  template <class Image, class Row>
  Plane write(const char *name, const Image &image, long long y0, long long y1, long long x0,
              long long x1, const Row &row, bool all) {
    const Area area{(int)y0, (int)y1, (int)x0, (int)x1};
    DeviceImage &i = root_->find(area, sizeof(*row(0)), row);
    mark(i, (const void *)image);
    for (const auto &other : root_->images_)
      if (other.get() != &i && !other->valid.empty() && other->shares_memory(i)) {
        other->write_back();
        other->forget();
      }
    root_->prepare(i, area, all, name);
    return i.plane(i.room);
  }

  /// The same for the slices z0 to z1 of a volume.
  /// @param row  row(z, y) is the address of the first pixel of a row
  template <class Image, class Row>
  Volume read_volume(const char *name, const Image &image, long long z0, long long z1, long long y0,
                     long long y1, long long x0, long long x1, const Row &row, bool exact = false) {
    return list(name, z0, z1, [&](long long z) {
      const auto row_of = [&](long long y) { return row(z, y); };
      return read(name, image, y0, y1, x0, x1, row_of, exact);
    });
  }
  template <class Image, class Row>
  Volume write_volume(const char *name, const Image &image, long long z0, long long z1,
                      long long y0, long long y1, long long x0, long long x1, const Row &row,
                      bool all) {
    return list(name, z0, z1, [&](long long z) {
      const auto row_of = [&](long long y) { return row(z, y); };
      return write(name, image, y0, y1, x0, x1, row_of, all);
    });
  }

  /// A copy of the first values of an array on the device, until the kernel is launched.
  template <class T>
  const T *table(const char *name, const T *values, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const Block memory = Pool::get().take(bytes, name);
    Copier::get().upload(memory.data, bytes, 1, bytes, [&](int) { return (const char *)values; });
    root_->old_.push_back(memory);
    return (const T *)memory.data;
  }

  /// After the launch of a kernel.
  void launched(const char *kernel) {
    check(cudaGetLastError(), kernel);
    root_->kernel_ = kernel;
    root_->launch_++;
    root_->give_back();
  }

  // Before host code, whether a region is open or not:
  static void reads() {
    if (Region *const region = current()) region->root_->write_back();
  }
  static void changes() {
    if (!current()) return;
    Region &root = *current()->root_;
    root.write_back();
    for (const auto &i : root.images_) Pool::get().give(i->memory);
    root.images_.clear();
    root.paused_ = true;
  }
  /// Before an array ceases to exist.
  static void drop(const void *array, std::size_t bytes) {
    if (!current()) return;
    const char *const begin = (const char *)array;
    auto &images = current()->root_->images_;
    for (auto i = images.begin(); i != images.end();) {
      const auto spans = (*i)->rows.spans((*i)->used.x0, (*i)->used.x1, (*i)->size);
      const bool there = have_common_bytes(spans, {{begin, begin + bytes}});
      if (there) Pool::get().give((*i)->memory);
      i = there ? images.erase(i) : std::next(i);
    }
  }

 private:
  static Region *&current() {
    static thread_local Region *region = nullptr;
    return region;
  }

  template <class Row>
  DeviceImage &find(const Area &area, std::size_t size, const Row &row) {
    paused_ = false;
    const HostRows rows(area.y0, area.y1, row);
    for (const auto &i : images_)
      if (i->size == size && i->rows.agrees(rows)) {
        if (!i->used.contains(area)) i->rows.learn(rows), i->used = around(i->used, area);
        return *i;
      }
    images_.push_back(std::make_unique<DeviceImage>());
    DeviceImage &i = *images_.back();
    i.rows = rows, i.size = size, i.used = area;
    return i;
  }

  /// Puts the list of a volume's slices into device memory.
  template <class Slice>
  Volume list(const char *name, long long z0, long long z1, const Slice &slice) {
    std::vector<Plane> slices;
    for (long long z = z0; z <= z1; z++) slices.push_back(slice(z));
    return Volume{table(name, slices.data(), slices.size()), (int)slices.size(), (int)z0};
  }

  void mark(DeviceImage &i, const void *image) const {
    for (const Region *r = this; r; r = r == root_ ? nullptr : r->outer_)
      for (const void *s : r->scratch_)
        if (s == image && !i.scratch) i.scratch = r;
  }

  /// Memory for an area, in which `kept` stays valid. An image that grows again and again gets more
  /// than it needs, so that it is not copied each time.
  void make_room(DeviceImage &i, const Area &area, const Area &kept, const char *name) {
    if (i.memory.data && i.room.contains(area) && i.room.contains(kept)) return;
    Area room = around(area, kept);
    if (!kept.empty() && i.moves++ > 0) {
      const int y = i.room.rows() / 2, x = i.room.columns() / 2;
      if (room.y0 < i.room.y0) room.y0 -= y;
      if (room.y1 > i.room.y1) room.y1 += y;
      if (room.x0 < i.room.x0) room.x0 -= x;
      if (room.x1 > i.room.x1) room.x1 += x;
    }
    move(i, room, name, [&](const auto &copy) { copy(kept); });
  }

  /// Gives an image other memory.
  /// @param fill  fill(copy) copies areas by copy(area)
  template <class Fill>
  void move(DeviceImage &i, const Area &room, const char *name, const Fill &fill) {
    constexpr std::size_t kAlignment = 512;
    DeviceImage moved;
    moved.size = i.size, moved.room = room;
    moved.pitch = ((std::size_t)room.columns() * i.size + kAlignment - 1) / kAlignment * kAlignment;
    moved.memory = Pool::get().take(moved.pitch * (std::size_t)room.rows(), name);
    fill([&](const Area &a) {
      if (!a.empty())
        check(cudaMemcpy2DAsync(moved.at(a.y0, a.x0), moved.pitch, i.at(a.y0, a.x0), i.pitch,
                                (std::size_t)a.columns() * i.size, (std::size_t)a.rows(),
                                cudaMemcpyDeviceToDevice, 0),
              "cudaMemcpy2DAsync on the device");
    });
    // A kernel that is about to be launched may read the old memory.
    if (i.memory.data) old_.push_back(i.memory);
    i.memory = moved.memory, i.pitch = moved.pitch, i.room = room;
  }

  /// Makes an area valid on the device.
  void bring(DeviceImage &i, const Area &area, const char *name) {
    if (i.valid.contains(area)) return;
    const bool together = fit_together(i.valid, area);
    if (!together && !area.contains(i.dirty)) i.write_back();
    const Area kept = common(i.valid, area), next = together ? around(i.valid, area) : area;
    make_room(i, next, together ? i.valid : kept, name);
    without(area, kept, [&](const Area &missing) { i.upload(missing); });
    i.valid = next;
  }

  /// Gets an image ready for being written.
  void prepare(DeviceImage &i, const Area &area, bool all, const char *name) {
    if (!all) bring(i, area, name);
    const Area both = around(i.dirty, area);
    const bool together = fit_together(i.valid, area);
    const Area valid = together ? around(i.valid, area) : area;
    if (!i.dirty.empty() && !valid.contains(both)) i.write_back();
    const Area kept = together ? i.valid : Area();
    if (i.reader == launch_ && i.writer != launch_) {
      // Windows see the image as it was before.
      move(i, around(area, kept), name,
           [&](const auto &copy) { all ? without(kept, common(kept, area), copy) : copy(kept); });
    } else {
      make_room(i, area, kept, name);
    }
    i.valid = valid;
    i.dirty = around(i.dirty, area);
    i.writer = launch_;
  }

  void write_back() {
    for (const auto &i : images_) i->write_back();
  }
  void give_back() {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    // Other threads may get the memory, whose work does not wait for this one's.
    if (!old_.empty()) check(cudaStreamSynchronize(0), kernel_);
#endif
    for (const Block &b : old_) Pool::get().give(b);
    old_.clear();
  }
  void finish() {
    for (const auto &i : images_) {
      if (!i->scratch) i->write_back();
      Pool::get().give(i->memory);
    }
    give_back();
    if (launch_ > 1) check(cudaStreamSynchronize(0), kernel_);
  }

  Region *const outer_;
  Region *const root_;   ///< the one that has the images: the outermost that is open
  bool paused_ = false;  ///< unknown host code may be running
  unsigned launch_ = 1;
  const char *kernel_ = "";
  std::vector<std::unique_ptr<DeviceImage>> images_;
  std::vector<Block> old_;
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
