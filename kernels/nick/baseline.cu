// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled with -use_fast_math; see baseline.h.
#include "kernels/nick/baseline.h"

#include "kernels/base/launch.cuh"
#include "kernels/base/refuse.h"

namespace cudascan::nick {
namespace {

using Byte = std::uint8_t;

/// The arguments of a kernel.
struct PublishedJob {
  const Byte *image;
  Byte *output;
  int width, height;
  int stride, output_stride;  ///< bytes from row to row
  float k;
};

/// The window of a pixel, clipped to the image; both ends are included.
template <int window>
struct ClippedWindow {
  int begin_row, begin_column, end_row, end_column;

  __device__ ClippedWindow(const PublishedJob &job, int row, int column)
      : begin_row(max(0, row - window / 2)),
        begin_column(max(0, column - window / 2)),
        end_row(min(job.height - 1, row + window / 2)),
        end_column(min(job.width - 1, column + window / 2)) {}
  __device__ int size() const {
    return (end_row - begin_row + 1) * (end_column - begin_column + 1);
  }
};

__device__ void write(const PublishedJob &job, int row, int column, int sum, int square_sum,
                      int size) {
  const int pixel = job.image[row * job.stride + column];
  job.output[row * job.output_stride + column] =
      published_white(pixel, sum, square_sum, size, job.k) ? 255 : 0;
}

/// Algorithm 2.
template <int block, int window>
__global__ void global_kernel(const __grid_constant__ PublishedJob job) {
  const int row = blockIdx.y * block + threadIdx.y, column = blockIdx.x * block + threadIdx.x;
  const ClippedWindow<window> w(job, row, column);
  if (row >= job.height || column >= job.width) return;
  int sum = 0, square_sum = 0;
  for (int i = w.begin_row; i <= w.end_row; ++i)
    for (int j = w.begin_column; j <= w.end_column; ++j) {
      const int pixel = job.image[i * job.stride + j];
      sum += pixel;
      square_sum += pixel * pixel;
    }
  write(job, row, column, sum, square_sum, w.size());
}

/// Algorithm 3. The first row and column of the tile are read from device memory, as published.
template <int block, int window>
__global__ void global_shared_kernel(const __grid_constant__ PublishedJob job) {
  __shared__ Byte tile[block][block];
  const int row = blockIdx.y * block + threadIdx.y, column = blockIdx.x * block + threadIdx.x;
  const int tile_row = blockIdx.y * block, tile_end_row = (blockIdx.y + 1) * block;
  const int tile_column = blockIdx.x * block, tile_end_column = (blockIdx.x + 1) * block;
  const bool inside = row < job.height && column < job.width;
  tile[threadIdx.y][threadIdx.x] = inside ? job.image[row * job.stride + column] : 0;
  __syncthreads();
  const ClippedWindow<window> w(job, row, column);
  if (!inside) return;
  int sum = 0, square_sum = 0;
  for (int i = w.begin_row; i <= w.end_row; ++i)
    for (int j = w.begin_column; j <= w.end_column; ++j) {
      const bool in_tile =
          tile_row < i && tile_column < j && i < tile_end_row && j < tile_end_column;
      const int pixel = in_tile ? tile[i % block][j % block] : job.image[i * job.stride + j];
      sum += pixel;
      square_sum += pixel * pixel;
    }
  write(job, row, column, sum, square_sum, w.size());
}

/// Algorithm 4.
template <int block, int window>
__global__ void shared_kernel(const __grid_constant__ PublishedJob job) {
  __shared__ Byte tile[block + window][block + window];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * block + ty, column = blockIdx.x * block + tx;
  const int from_row = row - window / 2, from_column = column - window / 2;
  const bool loads =
      from_row >= 0 && from_row < job.height && from_column >= 0 && from_column < job.width;
  tile[ty][tx] = loads ? job.image[from_row * job.stride + from_column] : 0;
  __syncthreads();
  const ClippedWindow<window> w(job, row, column);
  if (ty >= block || tx >= block) return;
  int sum = 0, square_sum = 0;
  for (int i = 0; i < window; ++i)
    for (int j = 0; j < window; ++j) {
      const int pixel = tile[i + ty][j + tx];
      sum += pixel;
      square_sum += pixel * pixel;
    }
  if (row < job.height && column < job.width) write(job, row, column, sum, square_sum, w.size());
}

template <int block, int window>
void queue(Cuda &cuda, const PublishedJob &job, PublishedKernel kernel) {
  const dim3 blocks(divide_up(job.width, block), divide_up(job.height, block));
  const dim3 threads(block, block);
  if (kernel == PublishedKernel::global) {
    launch(cuda, global_kernel<block, window>, {blocks, threads}, job);
  } else if (kernel == PublishedKernel::global_shared) {
    launch(cuda, global_shared_kernel<block, window>, {blocks, threads}, job);
  } else if constexpr (is_published(PublishedKernel::shared, block, window)) {
    const dim3 all(block + window, block + window);
    launch(cuda, shared_kernel<block, window>, {blocks, all}, job);
  }
}

template <int block>
void queue(Cuda &cuda, const PublishedJob &job, PublishedKernel kernel, int window) {
  switch (window) {
    case 9:
      return queue<block, 9>(cuda, job, kernel);
    case 15:
      return queue<block, 15>(cuda, job, kernel);
    case 33:
      return queue<block, 33>(cuda, job, kernel);
  }
}

}  // namespace

void run_published(Cuda &cuda, Plane<const Byte> in, Plane<Byte> out, PublishedKernel kernel,
                   int block, int window, float k) {
  if (!is_published(kernel, block, window))
    refuse("published kernel with block = ", block, " and window = ", window,
           ": blocks must be 8, 16 or 32, windows 9, 15 or 33; their sum must be less than 32 if ",
           "all pixels come from shared memory");
  const PublishedJob job{in.data,
                         out.data,
                         in.width,
                         in.height,
                         static_cast<int>(in.stride),
                         static_cast<int>(out.stride),
                         k};
  switch (block) {
    case 8:
      return queue<8>(cuda, job, kernel, window);
    case 16:
      return queue<16>(cuda, job, kernel, window);
    case 32:
      return queue<32>(cuda, job, kernel, window);
  }
}

}  // namespace cudascan::nick
