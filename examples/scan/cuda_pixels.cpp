// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_pixels.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "light.h"

namespace cudascan::scan {
namespace {

/// What an executor keeps.
struct Kept {
  cuda::Event done;
  cuda::DeviceBuffer device;
  cuda::PinnedBuffer pinned;
};

Kept &kept(Cuda &cuda) {
  static constexpr int kKey = 0;
  std::shared_ptr<void> &memory = cuda.kept(&kKey);
  if (!memory) memory = std::make_shared<Kept>();
  return *static_cast<Kept *>(memory.get());
}

/// A small plane on its way to or from the GPU: in pinned memory, and at the same place in device
/// memory.
template <typename T>
struct Small {
  /// Makes room for planes that together have so many bytes.
  static void reserve(Cuda &cuda, std::size_t bytes) {
    kept(cuda).device.reserve(bytes);
    kept(cuda).pinned.reserve(bytes);
  }
  Small(Cuda &cuda, int width, int height, std::size_t at)
      : host{reinterpret_cast<T *>(static_cast<char *>(kept(cuda).pinned.data()) + at), width,
             height, static_cast<std::ptrdiff_t>(sizeof(T)) * width},
        device{reinterpret_cast<T *>(static_cast<char *>(kept(cuda).device.data()) + at), width,
               height, host.stride} {}
  std::size_t bytes() const { return static_cast<std::size_t>(host.stride) * host.height; }
  void queue_upload(Cuda &cuda) const {
    cuda::copy_rows(device.data, device.stride, host.data, host.stride, bytes() / host.height,
                    host.height, cuda.stream());
  }
  void queue_fetch(Cuda &cuda) const {
    cuda::copy_rows(host.data, host.stride, device.data, device.stride, bytes() / host.height,
                    host.height, cuda.stream());
  }
  Plane<T> host, device;
};

using Cells = Small<std::uint8_t>;

void copy(const Plane<std::uint8_t> &from, Image &to) {
  const auto plane = to.plane<std::uint8_t>();
  for (int y = 0; y < from.height; ++y) std::memcpy(plane.row(y), from.row(y), from.width);
}

}  // namespace

void complete(Cuda &cuda, const std::function<void()> &queue) {
  queue();
  cuda::Event &done = kept(cuda).done;
  done.record(cuda.stream());
  done.synchronize();
  cuda.synchronize();
}

template <typename Use>
void CudaPixels::with_plane(Use use) const {
  if (page_->depth == 8)
    use(Plane<std::uint8_t>{static_cast<std::uint8_t *>(data_), page_->width, page_->height,
                            stride_});
  else
    use(Plane<std::uint16_t>{static_cast<std::uint16_t *>(data_), page_->width, page_->height,
                             stride_});
}

/// Queues the means of a part of the page.
/// @param to  gets its size
/// @param at  where they lie in the memory that is kept
void CudaPixels::queue_means(int x, int y, int width, int height, int by_x, int by_y, Image &to,
                             std::size_t at) const {
  to.shape(width / by_x, height / by_y, 8);
  const Cells cells(*cuda_, to.width, to.height, at);
  with_plane([&]<typename T>(const Plane<T> &page) {
    const Plane<const T> part{page.row(y) + x, width, height, page.stride};
    pages::queue_means(*cuda_, part, by_x, by_y, cells.device);
  });
  cells.queue_fetch(*cuda_);
}

void CudaPixels::reduce(int by_x, int by_y, Image &to) {
  const int width = page_->width / by_x, height = page_->height / by_y;
  Cells::reserve(*cuda_, static_cast<std::size_t>(width) * height);
  complete(*cuda_, [&] { queue_means(0, 0, page_->width, page_->height, by_x, by_y, to, 0); });
  copy(Cells(*cuda_, width, height, 0).host, to);
}

void CudaPixels::reduce_edges(int cell, int lines, Edges &to) {
  const int width = page_->width, height = page_->height;
  const int across = width / cell, down = height / cell;
  const std::size_t starts[] = {0, static_cast<std::size_t>(across),
                                static_cast<std::size_t>(2 * across),
                                static_cast<std::size_t>(2 * across + down)};
  Cells::reserve(*cuda_, static_cast<std::size_t>(2 * across + 2 * down));
  complete(*cuda_, [&] {
    queue_means(0, 0, width, lines, cell, lines, to.top, starts[0]);
    queue_means(0, height - lines, width, lines, cell, lines, to.bottom, starts[1]);
    queue_means(0, 0, lines, height, lines, cell, to.left, starts[2]);
    queue_means(width - lines, 0, lines, height, lines, cell, to.right, starts[3]);
  });
  Image *const edges[] = {&to.top, &to.bottom, &to.left, &to.right};
  for (int i = 0; i < 4; ++i)
    copy(Cells(*cuda_, edges[i]->width, edges[i]->height, starts[i]).host, *edges[i]);
}

void CudaPixels::find_content() {
  pages::LevelKinds kinds{};
  complete(*cuda_, [&] {
    with_plane([&]<typename T>(const Plane<T> &page) {
      kinds = pages::level_kinds(*cuda_, Plane<const T>(page));
    });
  });
  const std::uint32_t middle = page_->depth == 8 ? 127 : 32767;
  page_->content = !kinds.differs   ? kinds.first > middle ? Content::white : Content::black
                   : !kinds.between ? Content::bilevel
                                    : Content::gray;
}

void CudaPixels::fill(int cell, const Plane<const std::uint8_t> &marked,
                      const Plane<const std::uint8_t> &levels) {
  const std::size_t bytes = static_cast<std::size_t>(marked.width) * marked.height;
  Cells::reserve(*cuda_, 2 * bytes);
  const Cells marks(*cuda_, marked.width, marked.height, 0);
  const Cells filling(*cuda_, marked.width, marked.height, bytes);
  for (int y = 0; y < marked.height; ++y) {
    std::memcpy(marks.host.row(y), marked.row(y), marked.width);
    std::memcpy(filling.host.row(y), levels.row(y), marked.width);
  }
  complete(*cuda_, [&] {
    marks.queue_upload(*cuda_);
    filling.queue_upload(*cuda_);
    with_plane([&](const auto &page) {
      pages::queue_fill(*cuda_, cell, marks.device, filling.device, page);
    });
  });
}

void CudaPixels::divide(const Image &paper, int by) {
  using Gains = Small<std::uint16_t>;
  Gains::reserve(*cuda_, sizeof(std::uint16_t) * paper.width * paper.height);
  const Gains gains(*cuda_, paper.width, paper.height, 0);
  const auto levels = paper.plane<const std::uint8_t>();
  for (int y = 0; y < paper.height; ++y)
    std::transform(levels.row(y), levels.row(y) + paper.width, gains.host.row(y), gain_of);
  complete(*cuda_, [&] {
    gains.queue_upload(*cuda_);
    with_plane([&](const auto &page) { pages::queue_gains(*cuda_, by, gains.device, page); });
  });
}

void CudaLineMeter::take(const ByColumns &page, int squeeze, double steepest) {
  squeeze_ = squeeze;
  margin_ = margin_of(page.width(), squeeze, steepest);
  const auto stride = page.width() > 1 ? page.column(1) - page.column(0) : page.height();
  const pages::ColumnNumbers numbers{page.column(0), page.width(), page.height(),
                                     static_cast<int>(stride)};
  complete(cuda_, [&] { numbers_ = pages::upload(cuda_, numbers); });
}

std::vector<double> CudaLineMeter::slopes(const std::vector<double> &angles) const {
  std::vector<double> slopes;
  for (const double angle : angles) slopes.push_back(slope_of(squeeze_, angle));
  return slopes;
}

std::vector<HalfStrengths> CudaLineMeter::halves(const std::vector<double> &angles, int around) {
  std::vector<HalfStrengths> strengths;
  complete(cuda_, [&] {
    for (const pages::HalfSquares &one :
         pages::half_squares(cuda_, numbers_, margin_, around, slopes(angles)))
      strengths.push_back({static_cast<double>(one.left), static_cast<double>(one.right),
                           static_cast<double>(one.top), static_cast<double>(one.bottom),
                           static_cast<double>(one.most)});
  });
  return strengths;
}

std::vector<PartStrengths> CudaLineMeter::parts(const std::vector<double> &angles) {
  std::vector<PartStrengths> strengths;
  complete(cuda_, [&] {
    for (const pages::PartSquares &one :
         pages::part_squares(cuda_, numbers_, margin_, slopes(angles))) {
      PartStrengths levels;
      std::transform(std::begin(one.level), std::end(one.level), levels.begin(),
                     [](std::int64_t square) { return static_cast<double>(square); });
      strengths.push_back(levels);
    }
  });
  return strengths;
}

}  // namespace cudascan::scan
