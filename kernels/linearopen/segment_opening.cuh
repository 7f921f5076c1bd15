// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Openings with the same segment at every pixel: the extrema of parts, then those of the segment
/// (cover.h), first minima and then maxima over the segment rotated by 180 degrees.
#pragma once
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/base/launch.cuh"
#include "kernels/linearopen/cover.h"
#include "kernels/linearopen/cover_extrema.cuh"
#include "kernels/linearopen/scratch_planes.h"

namespace cudascan::linearopen {

/// What an opening does, one job after another.
template <typename T>
struct SegmentJobs {
  std::vector<CoverJob<T>> minima, maxima;
};

template <typename T>
class SegmentOpening {
 public:
  /// For planes of this size.
  SegmentOpening(Cuda &cuda, const lines::Direction &direction, int length, int width, int height)
      : cover_(SegmentCovers::of(cuda).find(direction, length, width, height)),
        width_(width),
        height_(height) {
    std::size_t bytes = plane_bytes<T>(width, height);
    for (std::size_t i = 1; i < cover_->levels.size(); ++i) {
      // Parts that begin outside the image may have pixels inside.
      const SegmentLevel &level = cover_->levels[i];
      constexpr int kSamples = Packed<T>::kSamples;
      const int left = divide_up(std::max(level.x, 0), kSamples) * kSamples;
      parts_[i] = {left, level.y, left + width + std::max(-level.x, 0), level.y + height, bytes};
      bytes += plane_bytes<T>(parts_[i].width, parts_[i].height);
    }
    scratch_bytes_ = bytes;
  }

  std::size_t scratch_bytes() const { return scratch_bytes_; }

  /// @param in       ordered integers; rows of both planes begin and end at whole words or have
  ///                 room for them
  /// @param scratch  scratch_bytes()
  SegmentJobs<T> jobs(const Plane<const T> &in, const Plane<T> &out, unsigned char *scratch) const {
    const Plane<T> minima = plane_at<T>(scratch, width_, height_);
    return {extrema(*cover_, in, scratch, minima), extrema(cover_->turned(), minima, scratch, out)};
  }

 private:
  /// The plane of a level's parts, in scratch memory.
  struct PartsAt {
    int left, above, width, height;
    std::size_t offset;
  };

  CoverPlane<Plane<T>> parts(std::size_t level, unsigned char *scratch) const {
    const PartsAt &p = parts_[level];
    return {plane_at<T>(scratch + p.offset, p.width, p.height), p.left, p.above};
  }

  std::vector<CoverJob<T>> extrema(const SegmentCover &cover, const Plane<const T> &in,
                                   unsigned char *scratch, const Plane<T> &out) const {
    std::vector<CoverJob<T>> jobs;
    CoverJob<T> whole{};
    whole.out = {out, 0, 0};
    CoverPlane<Plane<const T>> source{in, 0, 0};
    for (std::size_t i = 0; i < cover.levels.size(); ++i) {
      const SegmentLevel &level = cover.levels[i];
      if (i > 0) {
        const CoverPlane<Plane<T>> made = parts(i, scratch);
        CoverJob<T> job{};
        job.out = made;
        add(jobs, job, source, level.made_of);
        jobs.push_back(job);
        source = {made.plane, made.left, made.above};
      }
      add(jobs, whole, source, level.places);
    }
    jobs.push_back(whole);
    return jobs;
  }
  /// Adds places of a source to a job. A full one is added to `jobs`, and goes on as another one.
  static void add(std::vector<CoverJob<T>> &jobs, CoverJob<T> &job,
                  const CoverPlane<Plane<const T>> &source,
                  const std::vector<SegmentPlace> &places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (job.n == kMostCovered) {
        jobs.push_back(job);
        job.n = job.n_sources = 0;
        job.more = true;
      }
      if (i == 0 || job.n == 0) job.sources[job.n_sources++].from = source;
      job.places[job.n++] = {places[i].x, places[i].y};
      job.sources[job.n_sources - 1].end = job.n;
    }
  }

  const std::shared_ptr<const SegmentCover> cover_;
  const int width_, height_;
  PartsAt parts_[SegmentCover::kMostLevels]{};
  std::size_t scratch_bytes_;
};

/// Queues some openings. A launch has a job of each of them: one would not keep a large GPU busy.
template <typename T>
void queue_together(Cuda &cuda, const std::vector<SegmentJobs<T>> &openings) {
  const auto queue = [&](auto *kernel, std::vector<CoverJob<T>> SegmentJobs<T>::*jobs) {
    for (std::size_t step = 0;; ++step) {
      CoverJobs<T> together{};
      dim3 blocks(0, 0, 0);
      for (const SegmentJobs<T> &opening : openings) {
        if (step >= (opening.*jobs).size()) continue;
        const CoverJob<T> &job = together.job[blocks.z++] = (opening.*jobs)[step];
        const Plane<T> &out = job.out.plane;
        blocks.x = std::max<unsigned>(blocks.x, divide_up(out.width, kCoverWidth<T>));
        blocks.y = std::max<unsigned>(blocks.y, divide_up(out.height, kCoverHeight));
      }
      if (blocks.z == 0) return;
      launch(cuda, kernel, {blocks, kCoverThreads, 0, cuda.code_architecture() >= 90}, together);
    }
  };
  queue(cover_kernel<T, Smallest>, &SegmentJobs<T>::minima);
  queue(cover_kernel<T, Largest>, &SegmentJobs<T>::maxima);
}

}  // namespace cudascan::linearopen
