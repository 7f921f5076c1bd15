// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Delivers what operators measure to the application.
#pragma once
#include <gst/gst.h>

namespace cudascan::gst {

/// Registers the custom meta `cudascan-result`; the plugin calls it once.
void register_result_meta();

/// A structure with the times of a buffer: `timestamp`, `stream-time`, `running-time`, `duration`.
GstStructure *new_report(const char *name, const GstSegment &segment, GstBuffer *buffer);

/// @param to  bits of ReportTo
/// @throws BadSetting if this build cannot deliver reports in such a way
void check_report_to(guint to);

/// Delivers a report (takes ownership) as an element message and as metas on `out`, depending on
/// the ReportTo bits in `to`. The custom meta has the additional field `element`, the name of the
/// report. The field `confidence` belongs to the boolean field `doubtful`, or to none if that is
/// null.
void deliver_report(GstElement *element, GstStructure *report, const char *doubtful, GstBuffer *out,
                    guint to);

/// Whether a handler waits for notify::name of `object` or for deep-notify::name of a bin around
/// it.
bool is_watched(GstObject *object, const char *name);

}  // namespace cudascan::gst
