// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Images on the device, and their memory.
#pragma once
#include <memory>

#include "gswo_area.h"
#include "gswo_copy.h"
#include "gswo_volume.h"

namespace gswo {

/// Memory on the device for an image, or for the slices of a volume at equal distances.
struct Store {
  Area room;  ///< of each slice
  std::size_t pitch, distance;
  std::vector<char> taken;  ///< by slice: it has belonged to an image
  Block block;

  Store(const Area &room, std::size_t size, int slices, const char *name) : room(room) {
    // Rows of a volume are short, so little is lost between them. Tiles are read in vectors.
    const std::size_t alignment = slices > 1 ? 32 : 512;
    pitch = ((std::size_t)room.columns() * size + alignment - 1) / alignment * alignment;
    distance = pitch * (std::size_t)room.rows();
    taken.resize((std::size_t)slices);
    block = Pool::get().take(distance * (std::size_t)slices, name);
  }
  ~Store() { Pool::get().give(block); }
  Store(const Store &) = delete;
  Store &operator=(const Store &) = delete;

  char *begin_of(int slice) const { return block.data + (std::size_t)slice * distance; }
  char *at(int slice, int y, int x, std::size_t size) const {
    return begin_of(slice) + (std::size_t)(y - room.y0) * pitch + (std::size_t)(x - room.x0) * size;
  }
};

/// A user's image and its pixels on the device.
struct DeviceImage {
  HostRows rows;
  std::size_t size = 0;                ///< bytes of a pixel
  Area used;                           ///< all areas that kernels read or wrote
  std::shared_ptr<Store> store;        ///< its memory, if it has any
  int slice = 0;                       ///< in the store
  int moves = 0;                       ///< how often it needed more memory
  Area valid;                          ///< not older than on the host
  Area dirty;                          ///< newer than on the host; a part of `valid`
  unsigned reader = 0, writer = 0;     ///< numbers of the last launches that read and wrote it
  unsigned turn = 0;                   ///< of the region's last steps_of() with it
  const void *scratch = nullptr;       ///< the region that needs its pixels only until its end
  std::vector<DeviceImage *> sharing;  ///< others that share host memory with it

  char *at(int y, int x) const { return store->at(slice, y, x, size); }
  Plane plane(const Area &a) const {
    return Plane{at(a.y0, a.x0), (long long)store->pitch, a.columns(), a.rows(), a.x0, a.y0};
  }
  char *host(int y, int x) const { return rows[y] + x * (std::ptrdiff_t)size; }
  void forget() { valid = dirty = {}; }

  /// @param alone  nobody needs what its memory has around the area
  Piece piece(const Area &a, bool alone) const {
    return {at(a.y0, a.x0),
            store->pitch,
            a.rows(),
            (std::size_t)a.columns() * size,
            alone ? store->begin_of(slice) : nullptr,
            alone ? store->begin_of(slice + 1) : nullptr};
  }

  /// The first byte in use, and the byte after the last one.
  std::pair<const char *, const char *> ends() const {
    const auto [low, high] = rows.ends();
    return {low + used.x0 * (std::ptrdiff_t)size, high + (used.x1 + 1) * (std::ptrdiff_t)size};
  }
  bool shares_memory(const DeviceImage &other) const {
    return have_common_bytes(rows.spans(used.x0, used.x1, size),
                             other.rows.spans(other.used.x0, other.used.x1, other.size));
  }
};

/// Copies of areas between the host and the device, which are made together.
class Copies {
 public:
  void add(const DeviceImage &image, const Area &area, bool alone) {
    pieces_.push_back(image.piece(area, alone));
    sources_.push_back({&image, area});
  }
  void upload() {
    if (!pieces_.empty())
      Copier::get().upload(pieces_, [&](std::size_t p, int k) { return (const char *)row(p, k); });
    pieces_.clear(), sources_.clear();
  }
  void download() {
    if (!pieces_.empty())
      Copier::get().download(pieces_, [&](std::size_t p, int k) { return row(p, k); });
    pieces_.clear(), sources_.clear();
  }

 private:
  char *row(std::size_t p, int k) const {
    const auto &[image, area] = sources_[p];
    return image->host(area.y0 + k, area.x0);
  }
  std::vector<Piece> pieces_;
  std::vector<std::pair<const DeviceImage *, Area>> sources_;
};

/// Copies of areas to other memory. Those of one shape at equal distances are made at once.
class Moves {
 public:
  Moves() = default;
  ~Moves() { flush(); }
  Moves(const Moves &) = delete;
  Moves &operator=(const Moves &) = delete;

  /// @param slice  where the image gets its new memory
  void add(const DeviceImage &image, const Area &a, const Store &to, int slice) {
    if (a.empty()) return;
    const Rows source{image.at(a.y0, a.x0), (long long)image.store->pitch, 0},
        target{to.at(slice, a.y0, a.x0, image.size), (long long)to.pitch, 0};
    const std::size_t bytes = (std::size_t)a.columns() * image.size;
    if (runs_ > 0 && bytes == bytes_ && a.rows() == rows_ && source.pitch == from_.pitch &&
        target.pitch == to_.pitch) {
      const long long from = distance(from_, source), to_next = distance(to_, target);
      if (runs_ == 1) from_.distance = from, to_.distance = to_next;
      if (from == from_.distance && to_next == to_.distance) return void(runs_++);
    }
    flush();
    from_ = source, to_ = target, bytes_ = bytes, rows_ = a.rows(), runs_ = 1;
  }
  void flush() {
    if (runs_ > 0) move_rows(from_, to_, bytes_, rows_, runs_, cudaMemcpyDeviceToDevice);
    runs_ = 0;
  }

 private:
  /// From the last run to the next one.
  long long distance(const Rows &all, const Rows &next) const {
    return next.data - (all.data + (runs_ - 1) * all.distance);
  }
  Rows from_{}, to_{};
  std::size_t bytes_ = 0;
  int rows_ = 0, runs_ = 0;
};

}  // namespace gswo
