// SPDX-License-Identifier: LGPL-2.1-or-later
#include "kernels/swofilter/extrema/stages.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/swofilter/extrema/parts.h"

namespace cudascan::swo::extremes {
namespace {

template <typename T>
class ImageRows : public ExtremaRows<T> {
 public:
  ImageRows(Plane<const T> image, ColumnRange columns, int y, OutsideSamples<T> outside)
      : image_(image), columns_(columns), y_(y), outside_(outside) {}

  bool next(T *to) override {
    const int y = resolve(y_++, image_.height, outside_.border);
    if (y < 0)
      std::fill_n(to, columns_.count(), outside_.sample);
    else
      loops<T>().widen_exactly[false](image_.row(y) + columns_.begin, Widening{}, columns_.count(),
                                      to);
    prefetch();
    return y >= 0;
  }

 private:
  /// Prefetches a row of a strip, which processors do not predict.
  void prefetch() const {
    const int y = y_ + 1;
    if (columns_.count() == columns_.width || y < 0 || y >= image_.height) return;
    const T *const row = image_.row(y);
    for (int x = columns_.begin; x < columns_.end; x += 64 / sizeof(T)) __builtin_prefetch(row + x);
  }

  Plane<const T> image_;
  ColumnRange columns_;
  int y_;
  OutsideSamples<T> outside_;
};

template <typename T>
class BetweenStages : public ExtremaRows<T> {
 public:
  BetweenStages(std::unique_ptr<ExtremaRows<T>> stage, int columns, int y, int height, T outside)
      : stage_(std::move(stage)), columns_(columns), y_(y), height_(height), outside_(outside) {}

  bool next(T *to) override {
    const int y = y_++;
    if (y >= 0 && y < height_) return stage_->next(to);
    std::fill_n(to, columns_, outside_);
    return false;
  }

 private:
  std::unique_ptr<ExtremaRows<T>> stage_;
  int columns_, y_, height_;
  T outside_;
};

template <typename T>
class RectangleRows : public ExtremaRows<T> {
 public:
  RectangleRows(bool largest, const Mask &mask, ColumnRange columns, OutsideSamples<T> outside,
                std::unique_ptr<ExtremaRows<T>> source, ThreadScratch &scratch)
      : largest_(largest),
        ahead_(mask.height - 1),
        source_(std::move(source), columns, mask.rx(), outside),
        segments_(mask.width),
        downwards_(largest, mask.height, columns.count(), scratch),
        row_(scratch.take<T>(source_.stride())) {}

  bool next(T *out) override {
    for (; ahead_ > 0; --ahead_) downwards_.begin(widened(), segments_.last());
    downwards_.next(widened(), segments_.last(), out);
    return true;
  }

 private:
  const T *widened() {
    if (source_.next(row_)) segments_.widen(largest_, source_.count(), row_);
    return row_;
  }

  const bool largest_;
  int ahead_;  ///< rows to read before the first result
  PaddedRows<T> source_;
  const Segments segments_;
  Downwards<T> downwards_;
  T *const row_;
};

/// Crosses are a row and a column; the row waits until the column is complete.
template <typename T>
class CrossRows : public ExtremaRows<T> {
 public:
  CrossRows(bool largest, const Mask &mask, ColumnRange columns, OutsideSamples<T> outside,
            std::unique_ptr<ExtremaRows<T>> source, ThreadScratch &scratch)
      : largest_(largest),
        rx_(mask.rx()),
        waiting_(mask.ry() + 1),
        columns_(columns.count()),
        ahead_(mask.height - 1),
        source_(std::move(source), columns, rx_, outside),
        segments_(mask.width),
        downwards_(largest, mask.height, columns_, scratch),
        stride_(ThreadScratch::stride<T>(columns_ + kSlack)),
        row_(scratch.take<T>(source_.stride())),
        waits_(scratch.take<T>(stride_ * waiting_)) {}

  bool next(T *out) override {
    for (; ahead_ > 0; --ahead_) {
      source_.next(row_);
      downwards_.begin(row_ + rx_, Widening{});
      wait();
    }
    source_.next(row_);
    downwards_.next(row_ + rx_, Widening{}, out);
    wait();
    loops<T>().combine[largest_](out, waits_ + stride_ * newest_, columns_, out);
    return true;
  }

 private:
  void wait() {
    segments_.widen(largest_, source_.count(), row_);
    loops<T>().widen[largest_](row_, segments_.last(), columns_, waits_ + stride_ * newest_);
    newest_ = (newest_ + 1) % waiting_;
  }

  const bool largest_;
  const int rx_, waiting_, columns_;
  int ahead_;
  PaddedRows<T> source_;
  const Segments segments_;
  Downwards<T> downwards_;
  const std::size_t stride_;
  T *const row_, *const waits_;
  int newest_ = 0;  ///< position of the oldest row, which the next one replaces
};

/// Any window, by its runs: each run is two segments of the longest power of two that fits.
template <typename T>
class MaskRows : public ExtremaRows<T> {
 public:
  MaskRows(bool largest, const Mask &mask, ColumnRange columns, OutsideSamples<T> outside,
           std::unique_ptr<ExtremaRows<T>> source, ThreadScratch &scratch)
      : largest_(largest),
        height_(mask.height),
        columns_(columns.count()),
        ahead_(mask.height - 1),
        source_(std::move(source), columns, mask.rx(), outside),
        stride_(source_.stride()) {
    for (const Run &run : mask.runs()) {
      const int length = run.last - run.first + 1;
      const int level = std::bit_width(static_cast<unsigned>(length)) - 1;
      levels_ = std::max(levels_, level + 1);
      parts_.push_back({run.y + mask.ry(), level, run.first + mask.rx()});
      if (length != 1 << level)
        parts_.push_back({run.y + mask.ry(), level, run.last + 1 - (1 << level) + mask.rx()});
    }
    rows_ = scratch.take<T>(stride_ * levels_ * height_);
    pointers_.resize(parts_.size());
  }

  bool next(T *out) override {
    for (; ahead_ > 0; --ahead_) take();
    take();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const Part &part = parts_[i];
      const int row = oldest_ + part.row;
      pointers_[i] = at(row < height_ ? row : row - height_, part.level) + part.column;
    }
    loops<T>().gather[largest_](pointers_.data(), static_cast<int>(pointers_.size()), columns_,
                                out);
    return true;
  }

 private:
  struct Part {
    int row, level, column;
  };

  T *at(int row, int level) const { return rows_ + stride_ * (levels_ * row + level); }
  /// Replaces the oldest row by a new one.
  void take() {
    source_.next(at(oldest_, 0));
    for (int level = 1; level < levels_; ++level)
      loops<T>().widen[largest_](at(oldest_, level - 1), Widening::of(1 << (level - 1), 1 << level),
                                 source_.count() - (1 << level) + 1, at(oldest_, level));
    oldest_ = oldest_ + 1 < height_ ? oldest_ + 1 : 0;
  }

  const bool largest_;
  const int height_, columns_;
  int ahead_;
  PaddedRows<T> source_;
  const std::size_t stride_;
  int levels_ = 1;
  std::vector<Part> parts_;
  std::vector<const T *> pointers_;
  T *rows_;  ///< for each row, the extrema of segments of 1, 2, 4 ... samples
  int oldest_ = 0;
};

}  // namespace

template <typename T>
std::unique_ptr<ExtremaRows<T>> image_rows(Plane<const T> image, ColumnRange columns, int y,
                                           OutsideSamples<T> outside) {
  return std::make_unique<ImageRows<T>>(image, columns, y, outside);
}

template <typename T>
std::unique_ptr<ExtremaRows<T>> between_stages(std::unique_ptr<ExtremaRows<T>> stage, int columns,
                                               int y, int height, T outside) {
  return std::make_unique<BetweenStages<T>>(std::move(stage), columns, y, height, outside);
}

template <typename T>
std::unique_ptr<ExtremaRows<T>> extrema_rows(bool largest, const Mask &mask, ColumnRange columns,
                                             OutsideSamples<T> outside,
                                             std::unique_ptr<ExtremaRows<T>> source,
                                             ThreadScratch &scratch) {
  const auto make = [&]<template <typename> typename Stage>() -> std::unique_ptr<ExtremaRows<T>> {
    return std::make_unique<Stage<T>>(largest, mask, columns, outside, std::move(source), scratch);
  };
  if (mask.rectangle) return make.template operator()<RectangleRows>();
  if (mask.is_cross()) return make.template operator()<CrossRows>();
  return make.template operator()<MaskRows>();
}

using std::uint16_t, std::uint8_t;
template std::unique_ptr<ExtremaRows<uint8_t>> image_rows(Plane<const uint8_t>, ColumnRange, int,
                                                          OutsideSamples<uint8_t>);
template std::unique_ptr<ExtremaRows<uint16_t>> image_rows(Plane<const uint16_t>, ColumnRange, int,
                                                           OutsideSamples<uint16_t>);
template std::unique_ptr<ExtremaRows<uint8_t>> between_stages(std::unique_ptr<ExtremaRows<uint8_t>>,
                                                              int, int, int, uint8_t);
template std::unique_ptr<ExtremaRows<uint16_t>> between_stages(
    std::unique_ptr<ExtremaRows<uint16_t>>, int, int, int, uint16_t);
template std::unique_ptr<ExtremaRows<uint8_t>> extrema_rows(bool, const Mask &, ColumnRange,
                                                            OutsideSamples<uint8_t>,
                                                            std::unique_ptr<ExtremaRows<uint8_t>>,
                                                            ThreadScratch &);
template std::unique_ptr<ExtremaRows<uint16_t>> extrema_rows(bool, const Mask &, ColumnRange,
                                                             OutsideSamples<uint16_t>,
                                                             std::unique_ptr<ExtremaRows<uint16_t>>,
                                                             ThreadScratch &);

}  // namespace cudascan::swo::extremes
