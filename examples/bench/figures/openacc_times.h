// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Times a filter with OpenACC's directives. Images `T **` are blocks with a table of their rows,
/// on the device as on the host, so the loops need no changes. Runtime calls replace data clauses:
/// they copy the input to the device and the output back.
#pragma once
#include <openacc.h>

#include "harness.h"

namespace figures {

/// Whether windows leave the border of the output alone, which keeps its pixels.
#ifdef FIGURES_KEEPS_BORDER
constexpr bool kKeepsBorder = true;
#else
constexpr bool kKeepsBorder = false;
#endif

/// The images in the device's memory, as a filter's arguments.
template <class T>
class DeviceImages {
 public:
  explicit DeviceImages(Images<T> &host) : host_(host) {
    for (int i = 0; i < host.count(); i++) {
      blocks_.push_back(static_cast<T *>(acc_malloc(bytes())));
      if (!blocks_.back()) fail("acc_malloc failed");
      std::vector<T *> rows = host.rows_of(blocks_.back());
      tables_.push_back(static_cast<T **>(acc_malloc(rows.size() * sizeof(T *))));
      if (!tables_.back()) fail("acc_malloc failed");
      acc_memcpy_to_device(tables_.back(), rows.data(), rows.size() * sizeof(T *));
      // Temporary images may have margins of 0, which windows read.
      const bool is_output = i + 1 == host.count();
      if (i == 0 || (is_output ? kKeepsBorder : host.margin()))
        acc_memcpy_to_device(blocks_[i], host.flat(i), bytes());
    }
  }
  ~DeviceImages() {
    for (T *block : blocks_) acc_free(block);
    for (T **table : tables_) acc_free(table);
  }
  DeviceImages(const DeviceImages &) = delete;
  DeviceImages &operator=(const DeviceImages &) = delete;

  int width() const { return host_.width(); }
  T *flat(int image) const { return blocks_[image]; }
  T **rows(int image) const { return tables_[image] + host_.margin(); }
  void download() {
    acc_memcpy_from_device(host_.flat(host_.count() - 1), blocks_.back(), bytes());
  }

 private:
  std::size_t bytes() const { return host_.samples() * sizeof(T); }

  Images<T> &host_;
  std::vector<T *> blocks_;
  std::vector<T **> tables_;
};

/// @param apply  apply(images, rows) filters the first rows, as a picture of that height
template <class T, class Apply>
int run_openacc(int argc, char **argv, int count, bool flat, const Apply &apply) {
  const Options o = parse(argc, argv);
  const acc_device_t type = acc_get_device_type();
  const bool host = type == acc_device_host || acc_get_num_devices(acc_device_nvidia) < 1;
  if (!host) acc_init(acc_device_nvidia);
  Images<T> images(o, count, flat);
  images.spoil_output();
  const auto call = [&] {
    images.each([&] {
      DeviceImages<T> device(images);
      apply(device, o.height);
      device.download();
    });
  };
  std::vector<double> whole = repeat(call, 0);
  Comparison comparison;
  compare(o, images, o.height, comparison);
  if (whole[0] < o.seconds * 1e3) whole = repeat(call, o.seconds);
  DeviceImages<T> device(images);
  const std::vector<double> loops = repeat(
      [&] {
        for (int k = 0; k < o.images; k++) apply(device, o.height);
      },
      o.seconds);
  std::printf("{\"device\": \"%s\", \"loops_ms\": %s, \"ms\": %s, %s}\n", host ? "host" : "nvidia",
              list(loops).c_str(), list(whole).c_str(), comparison.json().c_str());
  return 0;
}

}  // namespace figures
