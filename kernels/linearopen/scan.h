// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The two published algorithms (linearopen.h) on one line, in one pass over its samples, for both
/// backends.
///
/// A Line has size() samples (at least one), read(i), and write(i, value) for its result. There are
/// also length / 2 samples before and (length - 1) / 2 after the line that are larger than any
/// other. They are not stored, but positions in stacks and queues count them.
#pragma once
#include <cstdint>
#include <type_traits>

#include "common/plane.h"
#include "kernels/linearopen/digital_lines.h"

namespace cudascan::linearopen {

/// A value and the position where it begins or ends, counted from the beginning of the line or of
/// the samples before it; two words of 16 or 32 bits.
template <typename T>
class alignas(sizeof(T) > 2 ? 8 : 4) Entry {
 public:
  Entry() = default;
  CUDASCAN_HD Entry(T value, int position)
      : value_(value), position_(static_cast<Position>(position)) {}

  CUDASCAN_HD T value() const { return value_; }
  CUDASCAN_HD int position() const { return static_cast<int>(position_); }

 private:
  using Position = std::conditional_t<(sizeof(T) > 2), std::uint32_t, std::uint16_t>;
  T value_;
  Position position_;
};

/// Steps [begin, end) of a line.
struct Steps {
  int begin, end;
};

/// The steps at which line `number` is inside an image `across` pixels wide.
inline CUDASCAN_HD Steps steps_inside(const lines::Direction &direction, int number, int across,
                                      const Steps &steps) {
  // The first step at which the line has reached `column`, or is below it if it falls.
  const auto first = [&](int column) {
    int low = steps.begin, high = steps.end;
    while (low < high) {
      const int middle = (low + high) / 2, at = number + direction.shift(middle);
      if (direction.rising ? at >= column : at < column)
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  };
  return direction.rising ? Steps{first(0), first(across)} : Steps{first(across), first(0)};
}

/// A line of an image.
template <typename T>
struct ImageLine {
  using Sample = T;

  const Plane<const T> &in;
  const Plane<T> &out;
  const lines::Direction &direction;
  int number;
  Steps steps;  ///< that are in the image

  CUDASCAN_HD int size() const { return steps.end - steps.begin; }
  CUDASCAN_HD T read(int i) const { return *at(in, i); }
  CUDASCAN_HD void write(int i, T value) const { *at(out, i) = value; }

 private:
  template <typename Any>
  CUDASCAN_HD auto at(const Any &plane, int i) const {
    const int step = steps.begin + i, column = number + direction.shift(step);
    return direction.steep ? plane.row(step) + column : plane.row(column) + step;
  }
};

// ---- Morard's stack (Algorithm 1)
// ----------------------------------------------------------------

/// Cords: runs of samples not less than a value, each inside the one below it on the stack. Entries
/// say where cords begin. The top is in registers, the others are in Memory.
template <typename T, typename Memory>
class CordStack {
 public:
  CUDASCAN_HD explicit CordStack(const Memory &memory) : memory_(memory) {}

  CUDASCAN_HD bool empty() const { return size_ == 0; }
  CUDASCAN_HD const Entry<T> &top() const { return top_; }
  CUDASCAN_HD void push(const Entry<T> &entry) {
    if (size_ > 0) memory_.store(size_ - 1, 0, top_);
    top_ = entry;
    ++size_;
  }
  CUDASCAN_HD Entry<T> pop() {
    const Entry<T> result = top_;
    if (--size_ > 0) top_ = memory_.load(size_ - 1);
    return result;
  }

 private:
  Memory memory_;
  Entry<T> top_{};
  int size_ = 0;
};

/// Most entries of a stack in memory, for so many samples of so many bytes.
inline int most_cords(int samples, std::size_t sample) {
  return sample == 1 && samples > 256 ? 256 : samples;
}

/// Writes `cord` and the cords below it on the stack: each contains a segment. Of nested cords the
/// highest counts.
/// @param written  samples that have been written, from the beginning
/// @param end      where the cords end
template <typename Line, typename S, typename T>
CUDASCAN_HD void write_flat_zones(const Line &line, S &stack, Entry<T> cord, int border, int end,
                                  int &written) {
  for (int zone_end = end;; cord = stack.pop()) {
    const int position = cord.position() - border, begin = position > written ? position : written;
    for (int i = begin; i < zone_end; ++i) line.write(i, cord.value());
    zone_end = begin;
    if (stack.empty()) break;
  }
  written = end;
}

/// Opens a line. Morard's entries also have a flag for cords that continue after they were found
/// long enough; here such cords begin `length` samples before the last one written.
template <typename Line, typename S>
CUDASCAN_HD void open_by_stack(const Line &line, int length, S stack) {
  using T = typename Line::Sample;
  const int n = line.size(), border = length / 2;
  int written = 0;
  stack.push({line.read(0), 0});
  for (int i = 1; i < n; ++i) {
    const T value = line.read(i);
    const int at = border + i;
    if (value > stack.top().value()) stack.push({value, at});
    while (value < stack.top().value()) {
      const Entry<T> cord = stack.pop();
      if (at - cord.position() >= length) {
        write_flat_zones(line, stack, cord, border, i, written);
        stack.push({value, at - length});
      } else if (stack.empty() || stack.top().value() < value) {
        stack.push({value, cord.position()});
      }
    }
  }
  // The remaining cords end with the samples after the line; the lowest one spans the whole line.
  Entry<T> cord = stack.pop();
  while (n + length - 1 - cord.position() < length) cord = stack.pop();
  write_flat_zones(line, stack, cord, border, n, written);
}

// ---- Bartovsky's queue (Algorithm 2)
// -------------------------------------------------------------

/// Flat zones of the known part of the result; each ends at the position of its entry. The first
/// contains the next sample to write. The first and the last two are in registers, the others are
/// in Memory (figure 7).
template <typename T, typename Memory>
class ZoneQueue {
 public:
  CUDASCAN_HD explicit ZoneQueue(const Memory &memory) : memory_(memory) {}

  CUDASCAN_HD int size() const { return tail_ - head_; }
  CUDASCAN_HD const Entry<T> &front() const { return front_; }
  CUDASCAN_HD const Entry<T> &back() const { return back_; }
  CUDASCAN_HD const Entry<T> &before_back() const { return before_; }

  CUDASCAN_HD void push(const Entry<T> &entry) {
    if (size() > 1) memory_.store(tail_ - 2, head_, before_);
    if (size() == 0) front_ = entry;
    before_ = back_;
    back_ = entry;
    ++tail_;
  }
  CUDASCAN_HD void pop_back() {
    --tail_;
    back_ = before_;
    if (size() > 1) before_ = memory_.load(tail_ - 2);
  }
  CUDASCAN_HD void pop_front() {
    ++head_;
    front_ = size() == 1 ? back_ : size() == 2 ? before_ : memory_.load(head_);
  }
  CUDASCAN_HD void end_back_at(int position) {
    back_ = {back_.value(), position};
    if (size() == 1) front_ = back_;
  }

 private:
  Memory memory_;
  Entry<T> front_{}, back_{}, before_{};
  int head_ = 0, tail_ = 0;  // numbers of the first entry and the next
};

/// Most entries of a queue in memory.
inline int most_zones(int samples, int length) {
  return length - 1 < samples ? length - 1 : samples;
}

/// Lowers zones that end before sample i (with `value`) and are shorter than a segment: the last
/// zone, as long as it is higher than both neighbours. After that, the last zone is less than
/// `value` or is final.
template <typename T, typename Q>
CUDASCAN_HD void erase_peaks(Q &queue, T value, int i, int length) {
  while (queue.size() > 0 && value <= queue.back().value()) {
    if (value == queue.back().value()) {
      queue.pop_back();  // the zone continues
      return;
    }
    // Zones that ended `length` samples ago have left the queue. So a zone after another one is
    // shorter than that, and a single zone is longer once so many samples have been read.
    const bool stays = queue.size() == 1 ? i >= length - length / 2
                                         : queue.back().value() < queue.before_back().value();
    if (stays) return;
    queue.pop_back();
    if (queue.size() > 0 && queue.back().value() >= value) queue.end_back_at(i - 1);
  }
}

/// Writes the result that is known after sample i.
/// @param write  write(sample, value)
template <typename Q, typename Write>
CUDASCAN_HD void write_front(Q &queue, int i, int length, const Write &write) {
  if (queue.front().position() + length == i) queue.pop_front();
  if (i >= length - 1) write(i - (length - 1), queue.front().value());
}

/// Takes sample i of a line.
template <typename T, typename Q, typename Write>
CUDASCAN_HD void open_next(Q &queue, T value, int i, int length, const Write &write) {
  erase_peaks(queue, value, i, length);
  queue.push({value, i});
  write_front(queue, i, length, write);
}

/// Writes the last results of a line of n samples.
template <typename Q, typename Write>
CUDASCAN_HD void open_last(Q &queue, int n, int length, const Write &write) {
  // The samples after the line need no zone: it would always be shorter than a segment.
  const int end = n + (length - 1) / 2;
  int i = n;
  for (; i < end; ++i) write_front(queue, i, length, write);
  queue.end_back_at(end - 1);
  while (queue.size() > 1 && queue.before_back().value() < queue.back().value()) {
    queue.pop_back();
    queue.end_back_at(end - 1);
  }
  for (; i < n + length - 1; ++i) write_front(queue, i, length, write);
}

/// Opens a line.
template <typename Line, typename Q>
CUDASCAN_HD void open_by_queue(const Line &line, int length, Q queue) {
  const int n = line.size();
  const auto write = [&](int i, typename Line::Sample value) { line.write(i, value); };
  for (int i = 0; i < n; ++i) open_next(queue, line.read(i), i, length, write);
  open_last(queue, n, length, write);
}

}  // namespace cudascan::linearopen
