// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Base class of the operator elements: caps, choice of backend, transfers, reports and statistics.
/// It is the only place where exceptions become element errors. element.h derives an element from
/// an operator.
#pragma once
#include <gst/base/gstbasetransform.h>

#include <functional>
#include <vector>

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

/// What an operator provides. All functions may throw cudascan::Error and are called without the
/// object lock. Those for a frame are called in this order, in the streaming thread.
struct GstCudaScanFilterClass {
  GstBaseTransformClass parent_class;

  /// Debug category of the element.
  GstDebugCategory *category;
  /// Name of the element messages with its reports, by convention the name of the element.
  const char *report_name;
  /// The boolean field of the reports that their field `confidence` belongs to, or null.
  const char *doubtful_field;

  /// Throws if the settings are wrong.
  void (*validate)(GstCudaScanFilter *self);
  /// The names of the properties that the result depends on with the current settings.
  std::vector<const char *> (*settings_in_use)(GstCudaScanFilter *self);
  /// The input formats for which the current settings can give GRAY8.
  cudascan::gst::Gray8From (*gray8_from)(GstCudaScanFilter *self);

  /// Loads the kernels for the current settings by gst_cuda_scan_filter_load_kernels().
  void (*load_kernels)(GstCudaScanFilter *self);

  /// Copies the settings for one frame, whose metas may change them. Returns the source of its
  /// chroma, which is Chroma::neutral for black and white.
  cudascan::gst::Chroma (*begin_frame)(GstCudaScanFilter *self, GstBuffer *in,
                                       const GstVideoInfo &info);
  /// Whether a result property needs this frame's result.
  /// @param on_cpu  the frame runs on the CPU, where results need no wait
  bool (*wants_report)(GstCudaScanFilter *self, bool on_cpu);
  void (*run_cpu)(GstCudaScanFilter *self, cudascan::Cpu &, const cudascan::gst::Luma &,
                  bool with_report);
  void (*run_cuda)(GstCudaScanFilter *self, cudascan::Cuda &, const cudascan::gst::Luma &,
                   bool with_report);
  /// Called when the results of a frame with a report are known. Publishes them as properties and
  /// adds them to `fields` unless that is null.
  void (*end_report)(GstCudaScanFilter *self, GstStructure *fields);

  /// Makes the next frame start without a history: after DISCONT, flush or new caps.
  void (*reset)(GstCudaScanFilter *self);
};

#define GST_TYPE_CUDA_SCAN_FILTER (gst_cuda_scan_filter_get_type())
GType gst_cuda_scan_filter_get_type(void);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GstCudaScanFilter, gst_object_unref)

/// Whether frames must not wait any longer because the element stops or is flushed. Then run_cpu
/// and run_cuda may throw cudascan::gst::Interrupted, and the frame is dropped.
bool gst_cuda_scan_filter_is_interrupted(GstCudaScanFilter *self);

/// Subclasses number their properties from here.
enum { GST_CUDA_SCAN_FILTER_FIRST_PROPERTY = 100 };

/// Call it when gray8_from() may have changed.
void gst_cuda_scan_filter_settings_changed(GstCudaScanFilter *self);

G_END_DECLS

/// Calls run() with a CudaLoader for the current or expected frames, so that these need not wait
/// for kernels to load, which takes up to tens of milliseconds. Does nothing without a stream and
/// on the CPU. Also does nothing for properties that a GstController sets, because the streaming
/// thread does that.
void gst_cuda_scan_filter_load_kernels(
    GstCudaScanFilter *self,
    const std::function<void(cudascan::Cuda &, const cudascan::gst::Luma &)> &run);
