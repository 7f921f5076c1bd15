// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Queues openings with the same segment at every pixel: the extrema of parts, then those of the
/// segment (cover.h), first minima and then maxima over the segment rotated by 180 degrees.
#pragma once
#include <algorithm>
#include <memory>

#include "kernels/base/launch.cuh"
#include "kernels/linearopen/cover.h"
#include "kernels/linearopen/cover_extrema.cuh"
#include "kernels/linearopen/scratch_planes.h"

namespace cudascan::linearopen {

template <typename T>
class SegmentOpening {
 public:
  /// For planes of this size.
  SegmentOpening(Cuda &cuda, const lines::Direction &direction, int length, int width, int height)
      : cuda_(cuda),
        cover_(SegmentCovers::of(cuda).find(direction, length, width, height)),
        width_(width),
        height_(height) {
    // Parts that begin outside the image may have pixels inside.
    constexpr int kSamples = Packed<T>::kSamples;
    const int across = (cover_->part - 1) * cover_->step_x;
    left_ = divide_up(std::max(across, 0), kSamples) * kSamples;
    parts_width_ = left_ + width + std::max(-across, 0);
    parts_height_ = cover_->above() + height;
  }

  std::size_t scratch_bytes() const {
    return plane_bytes<T>(width_, height_) + plane_bytes<T>(parts_width_, parts_height_);
  }

  /// @param in       ordered integers; rows of both planes begin at whole words
  /// @param scratch  scratch_bytes()
  void operator()(const Plane<const T> &in, const Plane<T> &out, unsigned char *scratch) const {
    const Plane<T> minima = plane_at<T>(scratch, width_, height_);
    const CoverPlane<Plane<T>> parts{
        plane_at<T>(scratch + plane_bytes<T>(width_, height_), parts_width_, parts_height_), left_,
        cover_->above()};
    extrema(cover_kernel<T, Smallest>, *cover_, in, parts, minima);
    extrema(cover_kernel<T, Largest>, cover_->turned(), minima, parts, out);
  }

 private:
  using Kernel = void (*)(CoverJob<T>);

  void extrema(Kernel kernel, const SegmentCover &cover, const Plane<const T> &in,
               const CoverPlane<Plane<T>> &parts, const Plane<T> &out) const {
    CoverJob<T> job{};
    job.samples = {in, 0, 0};
    if (cover.part > 1) {
      job.out = parts;
      for (int i = 0; i < cover.part; ++i) add(job, {i * cover.step_x, i * cover.step_y, false});
      queue(kernel, job);
    }
    job = {};
    job.samples = {in, 0, 0};
    job.parts = {parts.plane, parts.left, parts.above};
    job.out = {out, 0, 0};
    for (const SegmentPlace &place : cover.places) {
      if (job.n == kMostCovered) {
        queue(kernel, job);
        job.n = job.n_parts = 0;
        job.more = true;
      }
      add(job, place);
    }
    queue(kernel, job);
  }
  static void add(CoverJob<T> &job, const SegmentPlace &place) {
    job.places[job.n++] = {static_cast<std::int16_t>(place.x), static_cast<std::int16_t>(place.y)};
    job.n_parts += place.part;
  }
  void queue(Kernel kernel, const CoverJob<T> &job) const {
    const Plane<T> &out = job.out.plane;
    launch(cuda_, kernel,
           {dim3(divide_up(out.width, kCoverWidth<T>), divide_up(out.height, kCoverHeight)),
            kCoverThreads, 0, cuda_.code_architecture() >= 90},
           job);
  }

  Cuda &cuda_;
  const std::shared_ptr<const SegmentCover> cover_;
  const int width_, height_;
  int left_, parts_width_, parts_height_;
};

}  // namespace cudascan::linearopen
