// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <tiffio.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "common/error.h"

namespace cudascan::scan {

using TiffPtr = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

/// A libtiff file in memory.
struct TiffMemory {
  std::string bytes;
  std::size_t position = 0;

  /// Begins a file; this object must live longer than it.
  /// @param mode  as of TIFFOpen()
  TiffPtr open(const char *mode) {
    return TiffPtr(
        TIFFClientOpen("page", mode, this, read, write, seek, close, size, nullptr, nullptr),
        TIFFClose);
  }

 private:
  static TiffMemory &of(thandle_t handle) { return *static_cast<TiffMemory *>(handle); }
  static tmsize_t read(thandle_t handle, void *to, tmsize_t size) {
    TiffMemory &file = of(handle);
    const std::size_t left = file.bytes.size() - std::min(file.position, file.bytes.size());
    const std::size_t n = std::min(left, static_cast<std::size_t>(size));
    std::memcpy(to, file.bytes.data() + file.position, n);
    file.position += n;
    return static_cast<tmsize_t>(n);
  }
  static tmsize_t write(thandle_t handle, void *from, tmsize_t size) {
    TiffMemory &file = of(handle);
    const std::size_t end = file.position + static_cast<std::size_t>(size);
    if (file.bytes.size() < end) file.bytes.resize(end);
    std::memcpy(file.bytes.data() + file.position, from, static_cast<std::size_t>(size));
    file.position = end;
    return size;
  }
  static toff_t seek(thandle_t handle, toff_t offset, int whence) {
    TiffMemory &file = of(handle);
    const std::size_t base = whence == SEEK_CUR   ? file.position
                             : whence == SEEK_END ? file.bytes.size()
                                                  : 0;
    return file.position = base + offset;
  }
  static toff_t size(thandle_t handle) { return of(handle).bytes.size(); }
  static int close(thandle_t) { return 0; }
};

inline void check_tiff(bool done, const char *what) {
  if (!done) throw Error(std::string("libtiff cannot ") + what);
}

}  // namespace cudascan::scan
