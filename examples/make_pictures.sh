#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures in docs/ from the sample scan and from those of make_scenes.py: run ./quickstart
# first, then examples/make_pictures.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${BUILD_DIR:-build}
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH} GST_REGISTRY=$build/registry.bin

# beside OUTPUT ENCODER WIDTH CHAIN...: pictures of this width side by side, each the end of a chain.
# For jpegenc 8 has to divide the whole width, or it makes the last columns up from what is in memory.
beside() {
  local output=$1 encoder=$2 width=$3 chains=() pads=() i=0 chain
  shift 3
  for chain in "$@"; do
    chains+=("$chain ! videoconvert ! row.sink_$i")
    pads+=("sink_$i::xpos=$((i * (width + 12)))")
    i=$((i + 1))
  done
  # shellcheck disable=SC2048,SC2086  # the chains are pipelines, of words
  gst-launch-1.0 -q ${chains[*]} compositor name=row background=white ${pads[*]} ! videoconvert ! \
    video/x-raw,format=GRAY8 ! $encoder snapshot=true ! filesink location="$output"
}

part="videocrop left=646 right=60 top=304 bottom=1068"  # 534 x 382 pixels
beside docs/before-after.jpg "jpegenc quality=82" 534 \
  "filesrc location=$build/sample.png ! pngdec ! $part" \
  "filesrc location=$build/sample.png ! pngdec ! cudanick ! $part"

python=/usr/bin/python3  # which the distribution's packages are for
[ -x $python ] || python=python3
$python examples/make_scenes.py "$build/valley.png" "$build/cells.png"

valley="filesrc location=$build/valley.png ! pngdec"
beside docs/equalize.jpg "jpegenc quality=82" 488 "$valley" "$valley ! cudaequalize" \
  "$valley ! cudaequalize method=clahe clip-limit=10"

cells="filesrc location=$build/cells.png ! pngdec"
beside docs/autothreshold.png pngenc 360 "$cells" "$cells ! cudaautothreshold" \
  "$cells ! cudaautothreshold method=triangle" "$cells ! cudaautothreshold classes=3"
