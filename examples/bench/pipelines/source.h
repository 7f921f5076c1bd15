// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace cudascan::bench {

/// Name of an element that sends buffers of the pool that downstream proposes. Each is filled only
/// once, with the benchmark's page: a camera that costs nothing.
inline constexpr char kSource[] = "cudascanbenchsrc";

/// Makes kSource known to GStreamer.
/// @throws Error
void register_source();

struct SourceSettings {
  bool pageable = false;     ///< use plain system memory, ignore the proposed pool
  bool live = false;         ///< at the frame rate of the caps; else as fast as possible
  std::uint64_t frames = 0;  ///< number of frames until the stream ends; 0 = endless
};

/// Before the pipeline starts.
void set_source(GstElement *source, const SourceSettings &settings);

/// Allocator and pool of the buffers; empty before the first.
std::string source_memory(GstElement *source);

}  // namespace cudascan::bench
