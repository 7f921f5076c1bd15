// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// How a strip sums up the windows of its first row, alone or together with the other strips of its
/// block; strip.cuh includes it and describes the functions.
#pragma once

namespace cudascan::windowsums {

template <typename T, bool whole, bool squared>
__device__ inline void Strip<T, whole, squared>::fill() {
  if (together()) {
    add_groups();
    if constexpr (whole)
      source_.wait_for_own();
    else
      request_all();
    __syncthreads();
    const int n = Record::words(job_) / 2;
    auto *const records = reinterpret_cast<uint2 *>(records_);
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
      uint2 sum{};
#pragma unroll 4
      for (int k = 0; k < warps(); ++k) {
        const uint2 more = records[k * n + i];
        sum.x += more.x;
        sum.y += more.y;
        records[k * n + i] = sum;
      }
    }
    __syncthreads();
  }
  ColumnSums left, right;
  add_rest(left, right);
  if (together()) {
    add_record(left_column_, left);
    add_record(left_column_ + 2 * job_.rx + 1, right);
  }
  const int front = front_columns() - kColumns * lane();
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    sums.set(j, right.sum[j], left.sum[j], right.squares[j], left.squares[j]);
    sums.front_sum += j < front ? left.sum[j] : 0;
    sums.front_squares += j < front ? left.squares[j] : 0;
  }
}

template <typename T, bool whole, bool squared>
__device__ inline void Strip<T, whole, squared>::find(GroupPart &part) const {
  const int parts = whole ? job_.parts : strips_.group_parts;
  const int all = (strips_.groups + warps() - 1) * parts;
  for (;; part.index += warps()) {
    part.done = part.index >= all;
    if (part.done) return;
    part.last = part.index / parts;
    part.first = max(part.last - strips_.groups + 1, 0);
    const int top = block_begin_ - job_.ry + part.last * strips_.rows;
    const int piece = part.index % parts, from = whole ? top : top + piece * strips_.part_rows;
    const int rows = whole ? strips_.rows : strips_.part_rows;
    part.columns = piece;
    part.y = max(from, 0);
    part.end = min(min(from + rows, top + strips_.rows), job_.in.plane.height);
    if (part.y < part.end) return;
  }
}

template <typename T, bool whole, bool squared>
__device__ inline void Strip<T, whole, squared>::add_groups() {
  const unsigned zeros = shared_address(zeros_);
  while (!group_.done) {
    const int rows = group_.end - group_.y;
    unsigned begin;
    if constexpr (whole) {
      source_.wait_for(group_.y, group_.end);
      begin = source_.address(group_.y);
    } else {
      source_.wait_for_rows();
      begin = source_.rows();
    }
#pragma unroll 1
    for (int part = whole ? group_.columns : 0; part < (whole ? group_.columns + 1 : job_.parts);
         ++part) {
      const Samples inside =
          first_columns<T>(job_.in.plane.width - (x_ + job_.in.begin) - part * kStageColumns);
      const unsigned column = part * static_cast<unsigned>(kStageColumns * sizeof(T));
      ColumnSums sums;
#pragma unroll 1
      for (int first = 0; first < rows; first += kRows) {
        const unsigned row = begin + first * job_.in.pitch + column;
        Samples samples[kRows];
#pragma unroll
        for (int i = 0; i < kRows; ++i)
          samples[i] = read_stage<T>(first + i < rows ? row + i * job_.in.pitch : zeros);
        if (cut_) {
#pragma unroll
          for (Samples &row_samples : samples) row_samples = row_samples & inside;
        }
        sums.add(samples);
      }
      record(group_.first).add(part, sums, 1);
      if (group_.last + 1 < warps()) record(group_.last + 1).add(part, sums, -1);
    }
    group_.index += warps();
    find(group_);
    if constexpr (!whole)
      if (!group_.done) source_.request_rows(group_.y, group_.end);
  }
}

template <typename T, bool whole, bool squared>
__device__ inline void Strip<T, whole, squared>::add_rest(ColumnSums &left, ColumnSums &right) {
  if constexpr (whole)
    if (!together() && begin_ < end_)
      source_.wait_for(begin_ - job_.ry, begin_ + job_.ry + 1);  // also rows above the plane
  bool second = false;                                           // piece of the stage
  for (int y = rest_; y < rest_end_; y += kRows) {
    unsigned begin;
    if constexpr (whole) {
      begin = source_.address(y);
    } else {
      if (!second) source_.wait();
      begin = second ? source_.second() : source_.first();
    }
    const int rows = rest_end_ - y;
    Samples samples[kRows];
    right_.read(begin, job_.in.pitch, rows, samples);
    for (Samples &row_samples : samples) cut(row_samples);
    right.add(samples);
    left_.read(begin, job_.in.pitch, rows, samples);
    if (2 * job_.rx + 1 > kStageColumns) {
#pragma unroll 1
      for (int i = 0; i < min(rows, kRows); ++i) {
        const unsigned row = begin + i * job_.in.pitch;
#pragma unroll 1
        for (int k = 1; k * kStageColumns < 2 * job_.rx + 1; ++k)
          sums.add_front(left_.read(row + k * static_cast<unsigned>(kStageColumns * sizeof(T))),
                         front_mask(k));
      }
    }
    left.add(samples);
    if constexpr (!whole) {
      if (second || rows <= kRows) request(source_.waited() - 1 + kStages);
      second = !second;
    }
  }
  if (strips_.rest >= 0) return;
#pragma unroll
  for (int j = 0; j < kColumns; ++j) {
    left.sum[j] = -left.sum[j];
    left.squares[j] = -left.squares[j];
    right.sum[j] = -right.sum[j];
    right.squares[j] = -right.squares[j];
  }
  sums.front_sum = -sums.front_sum;
  sums.front_squares = -sums.front_squares;
}

template <typename T, bool whole, bool squared>
__device__ inline void Strip<T, whole, squared>::add_record(int column, ColumnSums &to) {
  const Record mine = record(warp());
  mine.add_to(to, column);
  if (column != left_column_) return;
  const int front = front_columns() - kColumns * lane();
#pragma unroll 1
  for (int k = kStageColumns; k < front; k += kStageColumns) {
#pragma unroll 1
    for (int j = 0; j < kColumns && k + j < front; ++j)
      mine.add_to(sums.front_sum, sums.front_squares, column + k + j);
  }
}

}  // namespace cudascan::windowsums
