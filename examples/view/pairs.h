// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Joins each result with the frame it was made from, and measures elements by watching their pads.
#pragma once
#include <gst/video/video.h>

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace cudascan::view {

/// Times of frames, the newest last.
struct FrameTimes {
  std::vector<double> element_ms;    ///< from the input of the elements to their output
  std::vector<double> interval_ms;   ///< from one output to the next
  std::uint64_t in = 0, out = 0;     ///< frames that went in and came out since the start
  std::vector<double> latency_ms{};  ///< of live sources, see Delay::ms()
  double reported_ms = -1;           ///< see Delay::reported_ms()
};

/// Watches a chain of elements. It keeps the input frames and gives each output frame the input
/// frame with the same timestamp, see before().
///
/// Input and output have the same format and size. Called by streaming threads; times() and
/// histogram() by any other.
class Pairs {
 public:
  /// Starts watching. The elements must have static pads "sink" and "src".
  /// @param n_elements  how many there are from `first` to `last`
  Pairs(GstElement *first, GstElement *last, std::size_t n_elements);
  ~Pairs();
  Pairs(const Pairs &) = delete;
  Pairs &operator=(const Pairs &) = delete;

  /// The input frame of an output frame that has been watched; `after` itself if the elements
  /// passed it through. No new reference.
  static GstBuffer *before(GstBuffer *after);

  FrameTimes times() const;
  /// Histogram with 256 levels of every 16th input pixel (one of 4x4); the frame is at most some
  /// tenths of a second old.
  std::array<std::uint32_t, 256> histogram() const;

 private:
  static GstPadProbeReturn on_input(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  static GstPadProbeReturn on_output(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void count_levels(GstBuffer *buffer, const GstVideoInfo &video);

  struct Waiting {
    GstBuffer *buffer;
    std::int64_t since;  // us
  };

  const std::size_t most_waiting_;
  GstPad *sink_, *src_;
  gulong input_probe_, output_probe_;
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::deque<double> element_ms_, interval_ms_;
  std::uint64_t in_ = 0, out_ = 0;
  std::int64_t last_output_ = 0, last_count_ = 0;
  std::array<std::uint32_t, 256> levels_{};
};

}  // namespace cudascan::view
