// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What the files of the base class share.
#pragma once
#include <atomic>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "gst/bit_watch.h"
#include "gst/cudaside.h"
#include "gst/gstcudascanfilter.h"
#include "gst/mapped_frame.h"
#include "gst/settings.h"
#include "gst/stats.h"

namespace cudascan::gst {

/// Of a frame before and after the operator.
struct Formats {
  GstVideoInfo in, out;
};

}  // namespace cudascan::gst

struct GstCudaScanFilterPrivate {
  using Backend = cudascan::gst::Backend;

  explicit GstCudaScanFilterPrivate(GstElement *element) : cuda(element, stats) {}

  cudascan::gst::Settings settings;             // object lock
  Backend active_backend = Backend::automatic;  // object lock; automatic: not chosen yet
  std::vector<cudascan::gst::Formats> formats;  // object lock; to load kernels for
  std::optional<cudascan::BitRange> bits;       // object lock; of the latest frame
  std::atomic<std::thread::id> syncing = {};  // the thread in which a GstController sets properties

  std::atomic<bool> interrupted = false;
  std::shared_ptr<cudascan::gst::Stats> stats = std::make_shared<cudascan::gst::Stats>();
  cudascan::gst::CudaSide cuda;

  cudascan::gst::BitWatch bit_watch;

  // Of the streaming thread.
  GstVideoInfo in_info, out_info;
  std::optional<cudascan::Cpu> cpu;
  guint cpu_threads = 0;                            // what `cpu` was made for
  std::vector<std::max_align_t> luma_in, luma_out;  // of frames without a plane of luma
};

namespace cudascan::gst {

inline GstCudaScanFilter *self_of(gpointer instance) {
  return static_cast<GstCudaScanFilter *>(instance);
}
inline GstCudaScanFilterPrivate *priv_of(gpointer instance) {
  return self_of(instance)->priv;
}
inline GstCudaScanFilterClass *class_of(gpointer instance) {
  return reinterpret_cast<GstCudaScanFilterClass *>(G_OBJECT_GET_CLASS(instance));
}

Settings settings_of(gpointer instance);
Backend active_backend(gpointer instance);
/// Has the operator forget what it carries from frame to frame.
void reset(gpointer instance);
/// Begins a stream whose samples may have other bits.
void restart_bits(gpointer instance);
/// Shows the bits of a frame in the properties.
void set_active_bits(gpointer instance, const BitRange &bits);
/// Gives the planes of a frame the range that its samples have. Black and white is 0 and the
/// maximum of the format, whatever the input has.
void narrow(Luma &luma, const BitRange &bits, bool black_and_white);
/// Loads kernels for these formats, or for none.
void set_formats(gpointer instance, std::vector<Formats> formats);

/// Runs `work`; what it throws becomes an element error.
/// @return whether it threw nothing
template <typename Work>
bool guarded(gpointer instance, Work work) {
  try {
    work();
    return true;
  } catch (const BadSetting &e) {
    GST_ELEMENT_ERROR(instance, RESOURCE, SETTINGS, ("%s", e.what()), (nullptr));
  } catch (const BadFrame &e) {
    GST_ELEMENT_ERROR(instance, STREAM, FORMAT, ("%s", e.what()), (nullptr));
  } catch (const std::bad_alloc &) {
    GST_ELEMENT_ERROR(instance, RESOURCE, NO_SPACE_LEFT, ("Out of memory."), (nullptr));
  } catch (const std::exception &e) {
    if (active_backend(instance) == Backend::cuda)
      GST_ELEMENT_ERROR(instance, LIBRARY, FAILED,
                        ("%s; backend=cpu does without the GPU", e.what()), (nullptr));
    else
      GST_ELEMENT_ERROR(instance, LIBRARY, FAILED, ("%s", e.what()), (nullptr));
  }
  return false;
}

/// Sets the functions of caps, queries and allocation.
void install_caps(GstBaseTransformClass *);
/// Sets the functions of frames, metas and events.
void install_frames(GstBaseTransformClass *);

}  // namespace cudascan::gst
