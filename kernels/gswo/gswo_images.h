// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The images of a region: which ones there are, where their memory is, what has to be copied.
#pragma once
#include <optional>

#include "gswo_image.h"

namespace gswo {

/// An image is known by where its rows are, not by its name, so pointers may be exchanged. Of each
/// image an area is known that is valid on the device, and in it an area that is newer than the
/// host's pixels. A volume is a list of images, its slices, which are treated together.
///
/// Images that share host memory are kept apart: before one is read, the other's new pixels are
/// copied back; when one is written, the other is no longer valid.
class RegionImages {
 public:
  using Images = std::vector<DeviceImage *>;

  /// The image whose rows are at some addresses.
  /// @param row  row(y) is the address of the first pixel of a row
  template <class Row>
  DeviceImage &find(const Area &area, std::size_t size, const Row &row) {
    const HostRows rows(area.y0, area.y1, row);
    const char *const zero = rows.zero();
    for (std::size_t n = images_.size(), left = n, k = next_image_; left > 0; left--, k++) {
      if (k >= n) k = 0;
      if (zero && places_[k].zero && zero != places_[k].zero) continue;
      DeviceImage &i = *images_[k];
      if (i.size != size || !i.rows.agrees(rows)) continue;
      next_image_ = k + 1;
      if (!i.used.contains(area)) {
        i.rows.learn(rows), i.used = around(i.used, area);
        relate(k);
      }
      return i;
    }
    images_.push_back(std::make_unique<DeviceImage>());
    places_.emplace_back();
    DeviceImage &i = *images_.back();
    i.rows = rows, i.size = size, i.used = area;
    next_image_ = images_.size();
    relate(images_.size() - 1);
    return i;
  }

  /// Makes an area of images valid on the device, for a kernel that reads it.
  void make_readable(const Images &all, const Area &area, const char *name) {
    Copies back;
    for (const DeviceImage *i : all)
      for (DeviceImage *other : i->sharing) save(*other, back);
    back.download();
    bring(all, area, name);
    for (DeviceImage *i : all) i->reader = launch_;
  }

  /// What the kernel that is launched next reads of a volume.
  void set_shape(int z0, int z1, const Area &area) { shape_ = {launch_, z0, z1, area}; }

  /// Gets images ready for a kernel that writes an area.
  /// @param whole  it writes all of it
  /// @param z0  the number of the first one, if they are slices of a volume
  void make_writable(const Images &all, const Area &area, bool whole, const char *name,
                     std::optional<int> z0 = {}) {
    Copies back;
    for (const DeviceImage *i : all)
      for (DeviceImage *other : i->sharing) save(*other, back), other->forget();
    back.download();
    if (!whole) bring(all, area, name);
    Area need;
    bool are_read = false;
    const std::vector<Step> steps = steps_of(all, [&](Step &s) {
      DeviceImage &i = *s.image;
      const bool together = fit_together(i.valid, area);
      s.next = together ? around(i.valid, area) : area;
      if (!i.dirty.empty() && !s.next.contains(around(i.dirty, area))) save(i, back);
      if (!together) s.kept = {};
      need = around(need, around(area, s.kept));
      are_read |= i.reader == launch_ && i.writer != launch_;
    });
    back.download();
    if (are_read)
      // Windows see the images as they were before.
      move(all, need, name, z0, [&](std::size_t k, const auto &copy) {
        const Area &kept = steps[k].kept;
        whole ? without(kept, common(kept, area), copy) : copy(kept);
      });
    else
      settle(all, steps, need, name, z0);
    for (const Step &s : steps) {
      if (!s.image) continue;
      s.image->valid = s.next;
      s.image->dirty = around(s.image->dirty, area);
      s.image->writer = launch_;
    }
  }

  /// The slices of a volume for a kernel: at equal distances, or in a list.
  Volume volume(const char *name, const Images &all, const Area &area, int z0) {
    std::vector<long long> offsets;
    const char *const first = all[0]->at(area.y0, area.x0);
    for (const DeviceImage *i : all) offsets.push_back(i->at(area.y0, area.x0) - first);
    const long long distance = all.size() > 1 ? offsets[1] : 0;
    bool equal = distance >= 0 && distance <= UINT_MAX;
    for (std::size_t k = 1; k < offsets.size(); k++)
      equal = equal && offsets[k] - offsets[k - 1] == distance;
    return Volume{all[0]->plane(area), (unsigned)distance, equal ? nullptr : list(name, offsets),
                  (int)all.size(), z0};
  }

  /// A copy of an array on the device, until the kernel is launched.
  const void *table(const char *name, const void *values, std::size_t bytes) {
    old_tables_.push_back(upload(name, values, bytes));
    return old_tables_.back().data;
  }

  /// After the launch of a kernel.
  void launched(const char *kernel) {
    check(cudaGetLastError(), kernel);
    kernel_ = kernel;
    launch_++;
    give_back();
  }

  /// Copies all new pixels to the host.
  void write_back() {
    Copies back;
    for (const auto &i : images_) save(*i, back);
    back.download();
  }

  /// Before an array ceases to exist.
  void drop(const char *array, std::size_t bytes) {
    for (std::size_t k = images_.size(); k-- > 0;) {
      DeviceImage &i = *images_[k];
      if (!have_common_bytes(i.rows.spans(i.used.x0, i.used.x1, i.size), {{array, array + bytes}}))
        continue;
      for (DeviceImage *other : i.sharing)
        other->sharing.erase(std::find(other->sharing.begin(), other->sharing.end(), &i));
      images_.erase(images_.begin() + (std::ptrdiff_t)k);
      places_.erase(places_.begin() + (std::ptrdiff_t)k);
    }
  }
  /// Forgets all images.
  void clear() {
    images_.clear();
    places_.clear();
  }
  /// At the end of a region that needed the pixels of some images only until then.
  void end_scratch(const void *region) {
    for (const auto &i : images_)
      if (i->scratch == region) i->forget(), i->scratch = nullptr;
  }

  /// At the end of the region.
  void finish() {
    Copies back;
    for (const auto &i : images_)
      if (!i->scratch) save(*i, back);
    back.download();
    for (const List &l : lists_) old_tables_.push_back(l.memory);
    lists_.clear();
    if (launch_ > 1) check(cudaStreamSynchronize(0), kernel_);
    give_back();
  }

 private:
  /// Where an image is on the host.
  struct Place {
    std::pair<const char *, const char *> ends;
    const char *zero;  ///< HostRows::zero()
  };
  /// Where the slices of a volume are: bytes from the first one to each.
  struct List {
    std::vector<long long> offsets;
    Block memory;  ///< their copy on the device
  };
  /// What becomes of an image; none for one that comes a second time.
  struct Step {
    DeviceImage *image = nullptr;
    Area kept, next;  ///< what stays valid, what is valid afterwards
  };
  /// The slices and the area of a volume that a kernel reads.
  struct Shape {
    unsigned launch = 0;
    int z0 = 0, z1 = -1;
    Area area;
  };

  /// Finds out which others share memory with an image that is new, or used more.
  void relate(std::size_t k) {
    DeviceImage &i = *images_[k];
    const auto ends = i.ends();
    places_[k] = {ends, i.rows.zero()};
    for (std::size_t n = 0; n < images_.size(); n++) {
      if (n == k || places_[n].ends.second <= ends.first || ends.second <= places_[n].ends.first)
        continue;
      DeviceImage &other = *images_[n];
      if (std::find(i.sharing.begin(), i.sharing.end(), &other) != i.sharing.end() ||
          !i.shares_memory(other))
        continue;
      i.sharing.push_back(&other);
      other.sharing.push_back(&i);
    }
  }

  const long long *list(const char *name, const std::vector<long long> &offsets) {
    constexpr std::size_t kMost = 32;
    auto found = std::find_if(lists_.begin(), lists_.end(),
                              [&](const List &l) { return l.offsets == offsets; });
    if (found == lists_.end()) {
      if (lists_.size() == kMost) {
        old_tables_.push_back(lists_.front().memory);
        lists_.erase(lists_.begin());
      }
      const std::size_t bytes = offsets.size() * sizeof(offsets[0]);
      lists_.push_back({offsets, upload(name, offsets.data(), bytes)});
      found = lists_.end() - 1;
    }
    return (const long long *)found->memory.data;
  }

  /// Whether all have memory for an area, in rows of the same length. Those that have none get the
  /// slices next to the others, if these are free.
  static bool are_placed(const Images &all, const Area &area) {
    const auto first = std::find_if(all.begin(), all.end(), [](auto *i) { return !!i->store; });
    if (first == all.end()) return false;
    const std::shared_ptr<Store> store = (*first)->store;
    if (!store->room.contains(area)) return false;
    const int begin = (*first)->slice - (int)(first - all.begin());
    for (std::size_t k = 0; k < all.size(); k++) {
      DeviceImage &i = *all[k];
      if (!i.store) {
        const int slice = begin + (int)k;
        if (slice < 0 || slice >= (int)store->taken.size() || store->taken[slice]) return false;
        store->taken[slice] = true;
        i.store = store, i.slice = slice;
      } else if (i.store->room != store->room || i.store->pitch != store->pitch) {
        return false;
      }
    }
    return true;
  }

  /// Gives images memory for an area, if they have none, or too little. An image that grows again
  /// and again gets more than it needs, so that it is not copied each time.
  /// @param z0  the number of the first slice of a volume: the memory is also large enough for the
  ///            volume that the kernel reads, if that costs little, since they may be exchanged
  void settle(const Images &all, const std::vector<Step> &steps, const Area &area, const char *name,
              std::optional<int> z0 = {}) {
    if (are_placed(all, area)) return;
    Area room = area;
    DeviceImage &i = *all[0];
    if (i.store && !steps[0].kept.empty() && i.moves++ > 0) {
      const Area old = i.store->room;
      const int y = old.rows() / 2, x = old.columns() / 2;
      if (room.y0 < old.y0) room.y0 -= y;
      if (room.y1 > old.y1) room.y1 += y;
      if (room.x0 < old.x0) room.x0 -= x;
      if (room.x1 > old.x1) room.x1 += x;
    }
    move(all, room, name, z0, [&](std::size_t k, const auto &copy) { copy(steps[k].kept); });
  }

  /// Gives images other memory.
  /// @param fill  fill(k, copy) copies areas of image number k by copy(area)
  template <class Fill>
  void move(const Images &all, Area room, const char *name, std::optional<int> z0,
            const Fill &fill) {
    int front = 0, slices = (int)all.size();
    if (z0 && shape_.launch == launch_) {
      const Area both = around(room, shape_.area);
      const int first = std::min(*z0, shape_.z0), last = std::max(*z0 + slices - 1, shape_.z1);
      const auto pixels = [](const Area &a, int n) { return (double)a.rows() * a.columns() * n; };
      if (pixels(both, last - first + 1) <= std::max(2 * pixels(room, slices), 1e5))
        room = both, front = *z0 - first, slices = last - first + 1;
    }
    const auto store = std::make_shared<Store>(room, all[0]->size, slices, name);
    Moves moves[4];
    for (std::size_t k = 0; k < all.size(); k++) {
      DeviceImage &i = *all[k];
      if (i.store == store) continue;
      const int slice = front + (int)k;
      Moves *next = moves;
      if (i.store) {
        fill(k, [&](const Area &a) { (next++)->add(i, a, *store, slice); });
        // A kernel that is about to be launched may read the old memory.
        if (old_.empty() || old_.back() != i.store) old_.push_back(i.store);
      }
      i.store = store, i.slice = slice;
      store->taken[slice] = true;
    }
  }

  void bring(const Images &all, const Area &area, const char *name) {
    Copies back;
    Area need;
    const std::vector<Step> steps = steps_of(all, [&](Step &s) {
      DeviceImage &i = *s.image;
      if (!i.valid.contains(area)) {
        const bool together = fit_together(i.valid, area);
        if (!together && !area.contains(i.dirty)) save(i, back);
        s.kept = together ? i.valid : common(i.valid, area);
        s.next = together ? around(i.valid, area) : area;
      }
      need = around(need, s.next);
    });
    back.download();
    settle(all, steps, need, name);
    Copies missing[4];
    for (const Step &s : steps) {
      if (!s.image || s.image->valid.contains(area)) continue;
      DeviceImage &i = *s.image;
      const bool alone = i.valid.empty() && i.reader != launch_ && i.writer != launch_;
      Copies *next = missing;
      without(area, common(i.valid, area), [&](const Area &a) { (next++)->add(i, a, alone); });
      i.valid = s.next;
    }
    for (Copies &c : missing) c.upload();
  }

  /// Calls use(step) for each image once.
  template <class Use>
  std::vector<Step> steps_of(const Images &all, const Use &use) {
    turn_++;
    std::vector<Step> steps(all.size());
    for (std::size_t k = 0; k < all.size(); k++) {
      if (std::exchange(all[k]->turn, turn_) == turn_) continue;
      steps[k] = {all[k], all[k]->valid, all[k]->valid};
      use(steps[k]);
    }
    return steps;
  }

  /// Adds the new pixels of an image to copies to the host.
  static void save(DeviceImage &i, Copies &back) {
    if (!i.dirty.empty()) back.add(i, i.dirty, true);
    i.dirty = {};
  }
  static Block upload(const char *name, const void *values, std::size_t bytes) {
    const Block memory = Pool::get().take(bytes, name);
    Copier::get().upload(memory.data, bytes, 1, bytes, [&](int) { return (const char *)values; });
    return memory;
  }

  void give_back() {
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
    // Other threads may get the memory, whose work does not wait for this one's.
    if (!old_.empty() || !old_tables_.empty()) check(cudaStreamSynchronize(0), kernel_);
#endif
    old_.clear();
    for (const Block &b : old_tables_) Pool::get().give(b);
    old_tables_.clear();
  }

  unsigned launch_ = 1;
  unsigned turn_ = 0;  ///< number of the last steps_of()
  const char *kernel_ = "";
  std::vector<std::unique_ptr<DeviceImage>> images_;
  std::vector<Place> places_;   ///< of the images
  std::size_t next_image_ = 0;  ///< probably the next one that is looked for
  Shape shape_;                 ///< of the volume that was read last
  std::vector<List> lists_;
  // What the kernel that is launched next may still use:
  std::vector<std::shared_ptr<Store>> old_;
  std::vector<Block> old_tables_;
};

}  // namespace gswo
