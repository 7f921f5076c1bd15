// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// gtest.h and GStreamer's headers, for the tests of elements.
#include <gst/check/gstharness.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include "tests/pch/gtest.h"
