// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once
#include <gst/gst.h>

#include <cstdint>
#include <string>

namespace cudascan::bench {

/// Name of an element that hands out the buffers of the pool that downstream proposes, each filled once
/// with the benchmark's page: a camera that costs nothing.
inline constexpr char kSource[] = "cudascanbenchsrc";

/// Makes kSource known to GStreamer.
/// @throws Error
void register_source();

struct SourceSettings {
  bool pageable = false;  ///< a pool of plain system memory whatever is proposed
  bool live = false;  ///< by the clock, at the frame rate of the caps; else as fast as frames go
  std::uint64_t frames = 0;  ///< then the stream ends; 0 = never
};

/// Before the pipeline starts.
void set_source(GstElement *source, const SourceSettings &settings);

/// Allocator and pool of the buffers; empty before the first.
std::string source_memory(GstElement *source);

}  // namespace cudascan::bench
