// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Reports as the metas that GStreamer's analytics elements use, from GStreamer 1.24 on.
#pragma once
#include <gst/gst.h>

namespace cudascan::gst {

/// @throws BadSetting if the plugin was built without GstAnalytics
void require_analytics();

/// Adds the fields of a report to the buffer's metas, after those of other elements. All names
/// begin with the name of the report:
///
/// - In the GstAnalyticsRelationMeta, a boolean field is a classification with one class,
///   `cudabinarize-blank` or `cudabinarize-not-blank`. Its confidence level is 1, but for the field
///   `doubtful` it is the number in the field `confidence`.
/// - From 1.26 on, a number or array of numbers is a tensor of the GstTensorMeta, such as
///   `cudaequalize-histogram`: contiguous, with one dimension, of the type that the field has
///   (INT32, UINT32, INT64 or FLOAT64).
///
/// Other fields are left out: texts, and times, which are of type UINT64.
/// @param buffer    writable
/// @param doubtful  a boolean field, or null
void add_analytics(GstBuffer *buffer, const GstStructure *report, const char *doubtful);

}  // namespace cudascan::gst
