#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures in docs/ from the sample scan and from those of make_scenes.py and make_lines.py:
# run ./quickstart first, then examples/make_pictures.sh.
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

$python examples/make_lines.py "$build"
$python examples/draw_segments.py docs/segments.svg

# Two rows of six; the lines are those of docs/linearopen.md.
print="filesrc location=$build/print.png ! pngdec"
table="filesrc location=$build/table.png ! pngdec"
fundus="filesrc location=$build/fundus.png ! pngdec"
concrete="filesrc location=$build/concrete.png ! pngdec"
music="filesrc location=$build/music.png ! pngdec"
line=cudalinearopen
chains=(
  "$print"
  "$print ! $line operation=opening length=9 directions=36 ! $line operation=closing length=15 directions=36"
  "$print ! videoconvert ! video/x-raw,format=Y444 ! $line operation=closing directions=60 output=orientation"
  "$table"
  "$table ! $line operation=closing length=40 directions=90"
  "$table ! $line operation=black-hat length=40 directions=90 ! cudaautothreshold invert=true"
  "$fundus"
  "$fundus ! $line operation=closing length=9 directions=24 ! cudanick method=bradley window=15 k=0.03 invert=true ! $line length=9 directions=24"
  "$concrete"
  "$concrete ! $line operation=closing length=9 directions=36 ! cudanick method=bradley window=31 k=0.2"
  "$music"
  "$music ! $line operation=black-hat length=40 angle=-1 span=2 directions=9 ! $line operation=closing length=5 angle=90 ! cudaautothreshold invert=true"
)
pads=()
for i in "${!chains[@]}"; do
  column=$((i % 6)) row=$((i / 6))
  pads+=("sink_$i::xpos=$((column * 250))" "sink_$i::ypos=$((row * 250))")
  chains[i]+=" ! videoconvert ! grid.sink_$i"
done
# JPEG has the full range, which videoconvert has to be told.
# shellcheck disable=SC2048,SC2086
gst-launch-1.0 -q ${chains[*]} compositor name=grid background=white ${pads[*]} ! \
  video/x-raw,format=ARGB ! videoconvert ! "video/x-raw,format=Y444,colorimetry=1:4:0:0" ! \
  jpegenc quality=85 snapshot=true ! filesink location=docs/linearopen.jpg
