#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes the pictures in docs/ from the sample scan and from the pictures of make_scenes.py,
# make_lines.py, make_grains.py and make_newspaper.py. Run ./quickstart first, then
# examples/make_pictures.sh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${BUILD_DIR:-build}
export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
export GST_REGISTRY=$build/registry.bin

# side_by_side OUTPUT ENCODER WIDTH CHAIN...: pictures of this width next to each other; each is the
# result of a chain. For jpegenc, the total width must be a multiple of 8, otherwise it fills the
# last columns with stray memory.
side_by_side() {
  local output=$1 encoder=$2 width=$3 chains=() pads=() i=0 chain
  shift 3
  for chain in "$@"; do
    chains+=("$chain ! videoconvert ! row.sink_$i")
    pads+=("sink_$i::xpos=$((i * (width + 12)))")
    i=$((i + 1))
  done
  # shellcheck disable=SC2048,SC2086  # the chains are pipelines of several words
  gst-launch-1.0 -q ${chains[*]} compositor name=row background=white ${pads[*]} ! videoconvert ! \
    video/x-raw,format=GRAY8 ! $encoder snapshot=true ! filesink location="$output"
}

part="videocrop left=646 right=60 top=304 bottom=1068"  # 534 x 382 pixels
side_by_side docs/before-after.jpg "jpegenc quality=82" 534 \
  "filesrc location=$build/sample.png ! pngdec ! $part" \
  "filesrc location=$build/sample.png ! pngdec ! cudabinarize ! $part"

python=/usr/bin/python3  # the Python of the distribution's packages
[ -x $python ] || python=python3
$python examples/make_scenes.py "$build/valley.png" "$build/cells.png" "$build/pixels.png"

valley="filesrc location=$build/valley.png ! pngdec"
side_by_side docs/equalize.jpg "jpegenc quality=82" 488 "$valley" "$valley ! cudaequalize" \
  "$valley ! cudaequalize method=clahe clip-limit=10"

cells="filesrc location=$build/cells.png ! pngdec"
side_by_side docs/autothreshold.png pngenc 360 "$cells" "$cells ! cudaautothreshold" \
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
  "$print ! $line operation=opening length=9 directions=36 ! \
    $line operation=closing length=15 directions=36"
  "$print ! videoconvert ! video/x-raw,format=Y444 ! \
    $line operation=closing directions=60 output=orientation"
  "$table"
  "$table ! $line operation=closing length=40 directions=90"
  "$table ! $line operation=black-hat length=40 directions=90 ! cudaautothreshold invert=true"
  "$fundus"
  "$fundus ! $line operation=closing length=9 directions=24 ! \
    cudanick method=bradley window=15 k=0.03 invert=true ! $line length=9 directions=24"
  "$concrete"
  "$concrete ! $line operation=closing length=9 directions=36 ! \
    cudanick method=bradley window=31 k=0.2"
  "$music"
  "$music ! $line operation=black-hat length=40 angle=-1 span=2 directions=9 ! \
    $line operation=closing length=5 angle=90 ! cudaautothreshold invert=true"
)
# JPEG uses the full range, and videoconvert must be told so.
# grid OUTPUT QUALITY CHAIN...: rows of six pictures of 250 x 250; each is the result of a chain.
grid() {
  local output=$1 quality=$2 chains=() pads=() i=0 row chain
  shift 2
  for chain in "$@"; do
    chains+=("$chain ! videoconvert ! grid.sink_$i")
    row=$((i / 6))
    pads+=("sink_$i::xpos=$((i % 6 * 250))" "sink_$i::ypos=$((row * 250))")
    i=$((i + 1))
  done
  # shellcheck disable=SC2048,SC2086
  gst-launch-1.0 -q ${chains[*]} compositor name=grid background=white ${pads[*]} ! \
    video/x-raw,format=ARGB ! videoconvert ! "video/x-raw,format=Y444,colorimetry=1:4:0:0" ! \
    jpegenc quality="$quality" snapshot=true ! filesink location="$output"
}
grid docs/linearopen.jpg 85 "${chains[@]}"

# The upper row shows the inputs, the lower one the results of the lines in docs/swofilter.md.
pixels="filesrc location=$build/pixels.png ! pngdec ! videocrop left=150 right=88 top=60 bottom=10"
stain="filesrc location=$build/sample.png ! pngdec ! \
    videocrop left=830 right=160 top=560 bottom=944"
words="filesrc location=$build/sample.png ! pngdec ! \
    videocrop left=370 right=620 top=86 bottom=1418"
cells="$cells ! videocrop left=60 right=50 top=80 bottom=30"
dusk="$valley ! videocrop left=150 right=88 top=60 bottom=10"
ridges="$print ! videocrop left=50 right=50 top=50 bottom=50 ! videoscale ! \
    video/x-raw,width=250,height=250"
swo=cudaswofilter
grid docs/swofilter.jpg 88 "$pixels" "$stain" "$words" "$cells" "$dusk" "$ridges" \
  "$pixels ! $swo operator=median window=3" \
  "$stain ! $swo operator=black-hat window=31 shape=ellipse ! cudaautothreshold invert=true" \
  "$words ! cudanick invert=true ! $swo operator=thin" \
  "$cells ! cudaautothreshold method=triangle ! $swo operator=open window=5 shape=ellipse ! \
    $swo operator=clear-border" \
  "$dusk ! cudaequalize ! $swo operator=standard-deviation window=9 ! cudaequalize" \
  "$ridges ! $swo operator=median window=5 ! cudanick window=25 invert=true ! $swo operator=thin"

# The lines of docs/granulometry.md.
$python examples/make_grains.py "$build"
grains="filesrc location=$build/grains.png ! pngdec"
side_by_side docs/polygons.jpg "jpegenc quality=85" 320 "$grains" \
  "$grains ! $swo operator=open window=15 shape=octagon" \
  "$grains ! $swo operator=top-hat window=15 shape=octagon"
$python examples/granulometry.py "$build/grains.png" --plot docs/granulometry.png
# Four pictures of 317 pixels; jpegenc needs a total width that is a multiple of 8.
specks="filesrc location=$build/speckled.png ! pngdec ! videoconvert ! video/x-raw,format=GRAY8"
octagons=$specks
lines=$specks
for size in 3 5 7; do
  octagons+=" ! $swo operator=open window=$size shape=octagon"
  octagons+=" ! $swo operator=close window=$size shape=octagon"
done
for length in 3 5 7 9; do
  lines+=" ! $line operation=opening length=$length directions=4"
  lines+=" ! $line operation=closing length=$length directions=4"
done
crop="videocrop left=2 right=1"
side_by_side docs/alternating.jpg "jpegenc quality=85" 317 "$specks ! $crop" \
  "$specks ! $swo operator=median window=5 ! $crop" "$octagons ! $crop" "$lines ! $crop"

$python examples/make_newspaper.py "$build/newspaper.png"
$python examples/segment_document.py "$build/newspaper.png" "$build/blocks.png"
half="pngdec ! videoscale ! video/x-raw,width=620,height=877 ! videoconvert"
# shellcheck disable=SC2086
gst-launch-1.0 -q filesrc location="$build/newspaper.png" ! $half ! row.sink_0 \
  filesrc location="$build/blocks.png" ! $half ! row.sink_1 \
  compositor name=row background=white sink_1::xpos=628 ! video/x-raw,format=ARGB ! videoconvert ! \
  "video/x-raw,format=Y444,colorimetry=1:4:0:0" ! jpegenc quality=80 snapshot=true ! \
  filesink location=docs/segmentation.jpg

# make_gallery.py makes the pictures of docs/gallery.md.
$python examples/make_gallery.py "$build"
