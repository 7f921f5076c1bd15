// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Base class of the operator elements: caps, backend choice, transfers, reports, statistics and
/// the one place where exceptions become element errors. element.h derives an element from an
/// operator.
#pragma once
#include <gst/base/gstbasetransform.h>

#include <functional>

#include "gst/picture.h"
#include "kernels/exec.h"

namespace cudascan::gst {
struct Interrupted {};
}  // namespace cudascan::gst

G_BEGIN_DECLS

struct GstCudaScanFilter {
  GstBaseTransform parent;
  struct GstCudaScanFilterPrivate *priv;
};

/// What an operator provides. All may throw cudascan::Error and are called without the object lock;
/// the ones of a frame are called in this order, in the streaming thread.
struct GstCudaScanFilterClass {
  GstBaseTransformClass parent_class;

  /// Debug category of the element.
  GstDebugCategory *category;
  /// Name of the element messages of its reports, by convention the name of the element.
  const char *report_name;

  /// Throws when the settings make no sense.
  void (*validate)(GstCudaScanFilter *self);
  /// Whether the present settings give black and white: GRAY8 for deep input, neutral chroma.
  bool (*black_and_white)(GstCudaScanFilter *self);

  /// Loads the kernels for the present settings by gst_cuda_scan_filter_load_kernels().
  void (*load_kernels)(GstCudaScanFilter *self);

  /// Takes the copy of the settings that counts for one frame; says where its chroma comes from,
  /// which is Chroma::neutral for black and white.
  cudascan::gst::Chroma (*begin_frame)(GstCudaScanFilter *self);
  /// Whether a result property wants this frame's result.
  /// @param on_cpu  the frame runs on the CPU, where nothing has to be waited for
  bool (*wants_report)(GstCudaScanFilter *self, bool on_cpu);
  void (*run_cpu)(GstCudaScanFilter *self, cudascan::Cpu &, const cudascan::gst::Luma &,
                  bool with_report);
  void (*run_cuda)(GstCudaScanFilter *self, cudascan::Cuda &, const cudascan::gst::Luma &,
                   bool with_report);
  /// The results of a frame that ran with a report are known: publishes them as properties and adds
  /// them to `fields`, unless that is null.
  void (*end_report)(GstCudaScanFilter *self, GstStructure *fields);

  /// Has the next frame forget what is carried from frame to frame: DISCONT, flush, new caps.
  void (*reset)(GstCudaScanFilter *self);
};

#define GST_TYPE_CUDA_SCAN_FILTER (gst_cuda_scan_filter_get_type())
GType gst_cuda_scan_filter_get_type(void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaScanFilter, gst_object_unref)

/// Whether frames cannot wait any longer, because the element stops or is flushed. Then run_cpu and
/// run_cuda may throw cudascan::gst::Interrupted, and the frame is dropped.
bool gst_cuda_scan_filter_is_interrupted(GstCudaScanFilter *self);

/// Subclasses number their properties from here.
enum { GST_CUDA_SCAN_FILTER_FIRST_PROPERTY = 100 };

/// To be called when black_and_white() may have changed.
void gst_cuda_scan_filter_settings_changed(GstCudaScanFilter *self);

G_END_DECLS

/// Calls run() with a CudaLoader for the frames that come, or are likely to come, so that these do
/// not wait until the kernels are loaded, which takes up to tens of milliseconds. Does nothing
/// while no stream is there and on the CPU; nor for properties that a GstController sets, as the
/// streaming thread does that.
void gst_cuda_scan_filter_load_kernels(
    GstCudaScanFilter *self,
    const std::function<void(cudascan::Cuda &, const cudascan::gst::Luma &)> &run);
