// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What pixels.h and lines.h say, on a GPU.
#pragma once
#include <vector>

#include "kernels/exec.h"
#include "kernels/pages/pages.h"
#include "lines.h"
#include "pixels.h"

namespace cudascan::scan {

struct Both;

/// The pixels of a page in device memory.
class CudaPixels : public Pixels {
 public:
  /// @param data, stride  the pixels, as deep as the page
  CudaPixels(Image &page, Cuda &cuda, void *data, std::ptrdiff_t stride)
      : Pixels(page), cuda_(&cuda), data_(data), stride_(stride) {}

  void reduce(int by_x, int by_y, Image &to) override;
  void look(int by_x, int by_y, Copies &to) override;
  void find_content() override;
  void fill(int cell, const Plane<const std::uint8_t> &marked,
            const Plane<const std::uint8_t> &levels) override;
  void divide(const Image &paper, int by) override;

 private:
  template <typename Use>
  void with_plane(Use use) const;
  Both &room(std::size_t bytes);
  void queue_means(int x, int y, int width, int height, int by_x, int by_y,
                   const Plane<std::uint8_t> &to) const;

  Cuda *cuda_;
  void *data_;
  std::ptrdiff_t stride_;
  bool is_queued_ = false;  ///< changes that use the small planes
};

class CudaLineMeter : public LineMeter {
 public:
  explicit CudaLineMeter(Cuda &cuda) : cuda_(cuda) {}
  void take(const ByColumns &page, int squeeze, double steepest) override;
  std::vector<HalfStrengths> halves(const std::vector<double> &angles, int around) override;
  std::vector<PartStrengths> parts(const std::vector<double> &angles) override;

 private:
  std::vector<double> slopes(const std::vector<double> &angles) const;

  Cuda &cuda_;
  pages::ColumnNumbers numbers_{};
  int squeeze_ = 1, margin_ = 0;
};

}  // namespace cudascan::scan
