// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Draws settings, caps, frames and their memory layouts for the random tests of the elements.
#pragma once
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include "tests/elements/support.h"

namespace cudascan::elements {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  int from(int first, int last) { return first + below(last - first + 1); }
  bool one_in(int n) { return below(n) == 0; }
  template <typename T>
  T pick(std::initializer_list<T> of) {
    return of.begin()[below(static_cast<int>(of.size()))];
  }
  template <typename T>
  const T &pick(const std::vector<T> &of) {
    return of[static_cast<std::size_t>(below(static_cast<int>(of.size())))];
  }
  unsigned bits() { return static_cast<unsigned>(random_()); }

 private:
  std::mt19937_64 random_;
};

/// Repeats a random test until its time is over, each round with its own seed. The environment
/// variable CUDASCAN_RANDOM_SECONDS sets the time and CUDASCAN_RANDOM_SEED the seed of the first
/// round. With the seed of a failure, the first round repeats the failure. A round that hangs ends
/// the process and prints its seed.
class Rounds {
 public:
  /// @param what     the name of the test in messages
  /// @param seconds  the time if the environment does not set it
  Rounds(const char *what, double seconds);
  ~Rounds();
  Rounds(const Rounds &) = delete;
  Rounds &operator=(const Rounds &) = delete;

  /// Whether there is another round; there is none after a failure.
  bool next();
  std::uint64_t seed() const { return seed_; }

 private:
  const char *what_;
  std::chrono::steady_clock::time_point end_;
  std::uint64_t seed_, rounds_ = 0;
};

/// Counts warnings and criticals of GLib and GStreamer while an object exists. They are also
/// printed.
class Complaints {
 public:
  Complaints();
  ~Complaints();
  Complaints(const Complaints &) = delete;
  Complaints &operator=(const Complaints &) = delete;

  static int count();
};

/// The properties of an element that are drawn: the settings of the computation, except for users'
/// code and the backend.
std::vector<GParamSpec *> drawn_properties(GstElement *element);

/// A value for a property.
class Setting {
 public:
  /// @param wild  the value may be nonsense
  Setting(Draw &, GParamSpec *, bool wild);
  /// The default value.
  explicit Setting(GParamSpec *);
  ~Setting() { g_value_unset(&value_); }
  Setting(const Setting &) = delete;
  Setting &operator=(const Setting &) = delete;

  void apply(GstElement *element) const {
    g_object_set_property(G_OBJECT(element), spec_->name, &value_);
  }
  const char *name() const { return spec_->name; }
  std::string text() const;

 private:
  GParamSpec *spec_;
  GValue value_ = G_VALUE_INIT;
};

/// Caps of a video, and the parts of them that pictures need.
struct Video {
  Ref<GstCaps> caps;
  GstVideoFormat format;
  int width, height;
  /// The layout without padding. GStreamer's own differs for interlaced video, so a GstVideoMeta
  /// describes it.
  Layout plain;
};
Video draw_video(Draw &, bool small);
Layout draw_layout(Draw &, const Video &);
/// Caps that every element refuses.
Ref<GstCaps> draw_wrong_caps(Draw &);

/// A buffer that contradicts the caps of the picture: too short, or with a wrong GstVideoMeta.
Ref<GstBuffer> draw_wrong_buffer(Draw &, const Picture &);

}  // namespace cudascan::elements
