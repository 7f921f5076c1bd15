// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Frames for several devices.
#pragma once
#include <deque>
#include <vector>

#include "kernels/devices.h"
#include "tests/kernels/operator_test.h"

namespace cudascan::test {

/// Lists of devices: one, one twice, each of the others, two, and all.
inline std::vector<std::vector<int>> device_lists() {
  const std::vector<int> all = Devices::all();
  std::vector<std::vector<int>> lists{{0}, {0, 0}};
  for (std::size_t i = 1; i < all.size(); ++i) lists.push_back({all[i]});
  if (all.size() > 1) lists.push_back({1, 0});
  if (all.size() > 2) lists.push_back(all);
  return lists;
}

/// More frames than workers, of different sizes, contents and layouts.
template <typename T>
std::deque<Image<T>> make_frames(T maximum, int n) {
  std::deque<Image<T>> frames;
  for (int i = 0; i < n; ++i) {
    const int width = 20 + 37 * i % 83, height = 15 + 29 * i % 47;
    const Content content = kContents[i % std::size(kContents)];
    frames.emplace_back(make_content(content, width, height, maximum, i), width, height,
                        kLayouts[i % std::size(kLayouts)], maximum);
  }
  return frames;
}
template <typename Out, typename In>
std::deque<Image<Out>> results_for(const std::deque<Image<In>> &frames, Out maximum,
                                   unsigned char fill) {
  std::deque<Image<Out>> results;
  for (const Image<In> &frame : frames)
    results.emplace_back(frame.width(), frame.height(),
                         kLayouts[(results.size() + 5) % std::size(kLayouts)], maximum, fill);
  return results;
}
template <typename T>
std::vector<Plane<const T>> inputs(const std::deque<Image<T>> &images) {
  std::vector<Plane<const T>> planes;
  for (const Image<T> &image : images) planes.push_back(image.plane());
  return planes;
}
template <typename T>
std::vector<Plane<T>> outputs(std::deque<Image<T>> &images) {
  std::vector<Plane<T>> planes;
  for (Image<T> &image : images) planes.push_back(image.plane());
  return planes;
}

}  // namespace cudascan::test
