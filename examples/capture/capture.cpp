// SPDX-License-Identifier: LGPL-2.1-or-later
// Captures from a camera, through elements of gst-cudascan, into a program of one's own: a place to start
// from. docs/capture.md explains it; capture.py is the same in Python.
#include <glib-unix.h>
#include <gst/app/gstappsink.h>
#include <gst/video/video.h>

#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "capture/camera.h"
#include "capture/frame.h"
#include "capture/options.h"
