// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gst/gst.h>

#include "gst/report.h"

// OPERATORS(X) is X(nick, Nick) X(...) ..., from the list of operators in the top meson.build.
#define DECLARE(operator, Name) GST_ELEMENT_REGISTER_DECLARE(cuda##operator)
OPERATORS(DECLARE)

static gboolean plugin_init(GstPlugin *plugin) {
  cudascan::gst::register_result_meta();
  gboolean ok = TRUE;
#define REGISTER(operator, Name) ok &= GST_ELEMENT_REGISTER(cuda##operator, plugin);
  OPERATORS(REGISTER)
  return ok;
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, cudascan,
                  "Filters for grayscale scans and video on NVIDIA GPUs", plugin_init, VERSION,
                  "LGPL", PACKAGE, DOCUMENTATION "/README.md")
