// SPDX-License-Identifier: LGPL-2.1-or-later
// Replaces analytics.cpp in a build without gstreamer-analytics-1.0.
#include "common/error.h"
#include "gst/analytics.h"

namespace cudascan::gst {

void require_analytics() {
  throw BadSetting(
      "report = analytics: the plugin was built without gstreamer-analytics-1.0, which GStreamer "
      "has from 1.24 on; report = meta delivers the same fields");
}
void add_analytics(GstBuffer *, const GstStructure *, const char *) {
  require_analytics();
}

}  // namespace cudascan::gst
