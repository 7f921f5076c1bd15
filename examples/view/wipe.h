// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Shows before and after in one frame, and measures an element by watching its pads.
#pragma once
#include <gst/video/video.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

namespace cudascan::view {

/// Times of frames, the newest last.
struct FrameTimes {
  std::vector<double> element_ms;    ///< from the element's input to its output
  std::vector<double> interval_ms;   ///< from one output to the next
  std::uint64_t in = 0, out = 0;     ///< frames that went in and came out since the start
  std::vector<double> latency_ms{};  ///< of live sources, see Delay::ms()
  double reported_ms = -1;           ///< see Delay::reported_ms()
};

/// Watches an element. It keeps the input frames and copies the part left of the divider into the
/// output frame with the same timestamp. So both sides show the same frame, and only the visible
/// part is copied.
///
/// Input and output have the same format and size. Called by streaming threads; set_divider() and
/// the rest by any other.
class Wipe {
 public:
  /// Starts watching; `element` must have static pads "sink" and "src".
  explicit Wipe(GstElement *element);
  ~Wipe();
  Wipe(const Wipe &) = delete;
  Wipe &operator=(const Wipe &) = delete;

  /// Where the input ends and the output begins, 0..1 of the width.
  void set_divider(double share) { divider_ = share; }
  double divider() const { return divider_; }

  FrameTimes times() const;
  /// Histogram with 256 levels of every 16th input pixel (one of 4x4); the frame is at most some
  /// tenths of a second old.
  std::array<std::uint32_t, 256> histogram() const;

 private:
  static GstPadProbeReturn on_input(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  static GstPadProbeReturn on_output(GstPad *pad, GstPadProbeInfo *info, gpointer self);
  void count_levels(GstBuffer *buffer, const GstVideoInfo &video);
  void copy_before(GstBuffer *before, GstBuffer *after, const GstVideoInfo &video) const;

  struct Waiting {
    GstBuffer *buffer;
    std::int64_t since;  // us
  };

  GstPad *sink_, *src_;
  gulong input_probe_, output_probe_;
  std::atomic<double> divider_{0.5};
  mutable std::mutex mutex_;
  std::deque<Waiting> waiting_;
  std::deque<double> element_ms_, interval_ms_;
  std::uint64_t in_ = 0, out_ = 0;
  std::int64_t last_output_ = 0, last_count_ = 0;
  std::array<std::uint32_t, 256> levels_{};
};

}  // namespace cudascan::view
