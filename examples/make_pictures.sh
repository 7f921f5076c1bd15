#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes docs/before-after.jpg, the picture of the README, from the sample scan: run ./quickstart first,
# then examples/make_pictures.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${BUILD_DIR:-build}

part=(videocrop left=646 right=60 top=304 bottom=1068 ! videoconvert)  # 534 x 382 pixels
gst-launch-1.0 -q \
  filesrc location="$build/sample.png" ! pngdec ! "${part[@]}" ! both.sink_0 \
  filesrc location="$build/sample-clean.png" ! pngdec ! "${part[@]}" ! both.sink_1 \
  compositor name=both background=white sink_1::xpos=546 ! \
  videoconvert ! video/x-raw,format=GRAY8 ! jpegenc quality=82 snapshot=true ! \
  filesink location=docs/before-after.jpg
