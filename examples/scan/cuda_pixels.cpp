// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_pixels.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "light.h"

namespace cudascan::scan {

/// Pinned memory, and device memory of the same size.
struct Both {
  Both &reserve(std::size_t bytes) {
    device.reserve(bytes);
    pinned.reserve(bytes);
    return *this;
  }
  void queue_fetch(Cuda &cuda, std::size_t bytes) const {
    cuda::copy_rows(pinned.data(), 0, device.data(), 0, bytes, 1, cuda.stream());
  }
  cuda::DeviceBuffer device;
  cuda::PinnedBuffer pinned;
};

namespace {

/// What an executor keeps for small planes.
Both &kept(Cuda &cuda) {
  static constexpr int kKey = 0;
  std::shared_ptr<void> &memory = cuda.kept(&kKey);
  if (!memory) memory = std::make_shared<Both>();
  return *static_cast<Both *>(memory.get());
}

/// A small plane on its way to or from the GPU: in pinned memory, and at the same place in device
/// memory.
template <typename T>
struct Small {
  /// @param at  where it begins, in bytes
  Small(const Both &memory, int width, int height, std::size_t at)
      : host{reinterpret_cast<T *>(static_cast<char *>(memory.pinned.data()) + at), width, height,
             static_cast<std::ptrdiff_t>(sizeof(T)) * width},
        device{reinterpret_cast<T *>(static_cast<char *>(memory.device.data()) + at), width, height,
               host.stride} {}
  std::size_t bytes() const { return static_cast<std::size_t>(host.stride) * host.height; }
  void queue_upload(Cuda &cuda) const {
    cuda::copy_rows(device.data, 0, host.data, 0, bytes(), 1, cuda.stream());
  }
  Plane<T> host, device;
};

using Cells = Small<std::uint8_t>;

void copy(const Cells &from, Image &to) {
  to.shape(from.host.width, from.host.height, 8);
  const auto plane = to.plane<std::uint8_t>();
  for (int y = 0; y < to.height; ++y) std::memcpy(plane.row(y), from.host.row(y), to.width);
}

}  // namespace

template <typename Use>
void CudaPixels::with_plane(Use use) const {
  if (page_->depth == 8)
    use(Plane<std::uint8_t>{static_cast<std::uint8_t *>(data_), page_->width, page_->height,
                            stride_});
  else
    use(Plane<std::uint16_t>{static_cast<std::uint16_t *>(data_), page_->width, page_->height,
                             stride_});
}

/// Memory for a step, which the GPU no longer uses.
Both &CudaPixels::room(std::size_t bytes) {
  if (is_queued_) cuda_->synchronize();
  is_queued_ = false;
  return kept(*cuda_).reserve(bytes);
}

/// Queues the means of a part of the page.
void CudaPixels::queue_means(int x, int y, int width, int height, int by_x, int by_y,
                             const Plane<std::uint8_t> &to) const {
  with_plane([&]<typename T>(const Plane<T> &page) {
    const Plane<const T> part{page.row(y) + x, width, height, page.stride};
    pages::queue_means(*cuda_, part, by_x, by_y, to);
  });
}

void CudaPixels::reduce(int by_x, int by_y, Image &to) {
  const int width = page_->width, height = page_->height;
  const Both &memory = room(std::size_t{1} * (width / by_x) * (height / by_y));
  const Cells cells(memory, width / by_x, height / by_y, 0);
  queue_means(0, 0, width, height, by_x, by_y, cells.device);
  memory.queue_fetch(*cuda_, cells.bytes());
  cuda_->synchronize();
  copy(cells, to);
}

void CudaPixels::look(int by_x, int by_y, Copies &to) {
  const int width = page_->width, height = page_->height, edge = width_of_edges(by_x);
  const int across = width / by_x, down = height / by_x;
  const std::size_t bytes = std::size_t{1} * across * (height / by_y) + 2 * (across + down);
  const Both &memory = room(bytes);
  std::size_t end = 0;
  const auto next = [&](int cells_across, int cells_down) {
    const Cells cells(memory, cells_across, cells_down, end);
    end += cells.bytes();
    return cells;
  };
  const Cells reduced = next(across, height / by_y);
  const Cells top = next(across, 1), bottom = next(across, 1);
  const Cells left = next(1, down), right = next(1, down);
  queue_means(0, 0, width, height, by_x, by_y, reduced.device);
  queue_means(0, 0, width, edge, by_x, edge, top.device);
  queue_means(0, height - edge, width, edge, by_x, edge, bottom.device);
  queue_means(0, 0, edge, height, edge, by_x, left.device);
  queue_means(width - edge, 0, edge, height, edge, by_x, right.device);
  memory.queue_fetch(*cuda_, bytes);
  if (page_->content == Content::unknown)
    find_content();
  else
    cuda_->synchronize();
  copy(reduced, to.reduced);
  copy(top, to.edges.top);
  copy(bottom, to.edges.bottom);
  copy(left, to.edges.left);
  copy(right, to.edges.right);
}

void CudaPixels::find_content() {
  pages::LevelKinds kinds{};
  with_plane([&]<typename T>(const Plane<T> &page) {
    kinds = pages::level_kinds(*cuda_, Plane<const T>(page));
  });
  const std::uint32_t middle = page_->depth == 8 ? 127 : 32767;
  page_->content = !kinds.differs   ? kinds.first > middle ? Content::white : Content::black
                   : !kinds.between ? Content::bilevel
                                    : Content::gray;
}

void CudaPixels::fill(int cell, const Plane<const std::uint8_t> &marked,
                      const Plane<const std::uint8_t> &levels) {
  const std::size_t bytes = static_cast<std::size_t>(marked.width) * marked.height;
  const Both &memory = room(2 * bytes);
  const Cells marks(memory, marked.width, marked.height, 0);
  const Cells filling(memory, marked.width, marked.height, bytes);
  for (int y = 0; y < marked.height; ++y) {
    std::memcpy(marks.host.row(y), marked.row(y), marked.width);
    std::memcpy(filling.host.row(y), levels.row(y), marked.width);
  }
  marks.queue_upload(*cuda_);
  filling.queue_upload(*cuda_);
  with_plane([&](const auto &page) {
    pages::queue_fill(*cuda_, cell, marks.device, filling.device, page);
  });
  is_queued_ = true;
}

void CudaPixels::divide(const Image &paper, int by) {
  using Gains = Small<std::uint16_t>;
  const Gains gains(room(sizeof(std::uint16_t) * paper.width * paper.height), paper.width,
                    paper.height, 0);
  const auto levels = paper.plane<const std::uint8_t>();
  for (int y = 0; y < paper.height; ++y)
    std::transform(levels.row(y), levels.row(y) + paper.width, gains.host.row(y), gain_of);
  gains.queue_upload(*cuda_);
  with_plane([&](const auto &page) { pages::queue_gains(*cuda_, by, gains.device, page); });
  is_queued_ = true;
}

void CudaLineMeter::take(const ByColumns &page, int squeeze, double steepest) {
  squeeze_ = squeeze;
  margin_ = margin_of(page.width(), squeeze, steepest);
  const auto stride = page.width() > 1 ? page.column(1) - page.column(0) : page.height();
  const pages::ColumnNumbers numbers{page.column(0), page.width(), page.height(),
                                     static_cast<int>(stride)};
  numbers_ = pages::upload(cuda_, numbers);
}

std::vector<double> CudaLineMeter::slopes(const std::vector<double> &angles) const {
  std::vector<double> slopes;
  for (const double angle : angles) slopes.push_back(slope_of(squeeze_, angle));
  return slopes;
}

std::vector<HalfStrengths> CudaLineMeter::halves(const std::vector<double> &angles, int around) {
  std::vector<HalfStrengths> strengths;
  for (const pages::HalfSquares &one :
       pages::half_squares(cuda_, numbers_, margin_, around, slopes(angles)))
    strengths.push_back({static_cast<double>(one.left), static_cast<double>(one.right),
                         static_cast<double>(one.top), static_cast<double>(one.bottom),
                         static_cast<double>(one.most)});
  return strengths;
}

std::vector<PartStrengths> CudaLineMeter::parts(const std::vector<double> &angles) {
  std::vector<PartStrengths> strengths;
  for (const pages::PartSquares &one :
       pages::part_squares(cuda_, numbers_, margin_, slopes(angles))) {
    PartStrengths levels;
    std::transform(std::begin(one.level), std::end(one.level), levels.begin(),
                   [](std::int64_t square) { return static_cast<double>(square); });
    strengths.push_back(levels);
  }
  return strengths;
}

}  // namespace cudascan::scan
