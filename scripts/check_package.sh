#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   scripts/check_package.sh FOLDER
#
# Builds the Debian packages from the last commit, in FOLDER. It leaves out CUDA, tests,
# optimisation and debug information, which would take long. Then it installs the packages, runs
# their programs and elements without any environment variables, and removes the packages. Run it
# only on a machine that may be changed, as root or with sudo: it replaces installed versions of
# these packages.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
folder=$(realpath "${1:?usage: scripts/check_package.sh FOLDER}")

need "${build_packages[@]}" "${translator_packages[@]}" "${program_packages[@]}" \
  "${package_packages[@]}"
rm -rf "$folder/gst-cudascan"
mkdir -p "$folder/gst-cudascan"
git -C "$root" archive HEAD | tar -x -C "$folder/gst-cudascan"
cd "$folder/gst-cudascan"
begun=$SECONDS
DEB_BUILD_OPTIONS="nocheck noopt noautodbgsym parallel=$(nproc)" DEB_BUILD_PROFILES=nocheck \
  DEB_CXXFLAGS_APPEND=-g0 CUDASCAN_CUDA=disabled \
  dpkg-buildpackage -us -uc -b >"$folder/package.log" 2>&1 || {
  tail -n 100 "$folder/package.log" >&2
  die "The packages could not be built."
}
say "Built in $((SECONDS - begun)) s"
cd "$folder"
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs ./*.changes

packages=(libcudascan0 libcudascan-dev gstreamer1.0-cudascan cudascan-tools cudascan-scan
  cudascan-view)
remove() {
  as_root dpkg --purge "${packages[@]}" >/dev/null 2>&1 || true
  rm -rf "$folder/home"
}
trap remove EXIT
as_root env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends --reinstall --allow-downgrades \
  $(printf "$folder/%s_*.deb " "${packages[@]}") >/dev/null

# Runs as a user without any settings, even without a folder for the registry.
mkdir "$folder/home"
operators() {
  sed -n "/^operator_names = /,/\]/p" "$root/meson.build" | grep -o "'[A-Za-z]*'"
}
user() { env -i HOME="$folder/home" PATH=/usr/bin:/bin "$@"; }
elements=$(user gst-inspect-1.0 cudascan | sed -n 's/^  \(cuda[a-z]*\): .*/\1/p')
[ "$(wc -w <<<"$elements")" -eq "$(operators | wc -l)" ] ||
  die "The plugin has other elements than meson.build: $elements"
for element in $elements; do
  page=$(user gst-inspect-1.0 "$element" | sed -n 's|^ *Doc-uri *file://||p')
  [ -s "$page" ] || die "gst-inspect-1.0 $element names the page $page, which is not installed."
  user gst-launch-1.0 -q videotestsrc num-buffers=2 ! video/x-raw,format=GRAY8 ! "$element" ! \
    fakesink
done
for program in $(dpkg -L cudascan-tools cudascan-scan cudascan-view | grep '^/usr/bin/'); do
  user "$program" --help >/dev/null
  [ -e "/usr/share/man/man1/${program##*/}.1.gz" ] || die "${program##*/} has no manual page."
done
user /usr/share/gst-cudascan/python_peers.py >/dev/null  # none of the libraries is installed
user gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=64,height=48 ! \
  cudaswofilter source=/usr/share/doc/libcudascan-dev/examples/gswo/median.cpp ! fakesink

user gst-launch-1.0 -q videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8 ! \
  cudanick @preset="Book at 300 dpi" ! fakesink

# A program of the user's, built with pkg-config only.
c++ -std=c++20 -o "$folder/example" "$root/examples/library.cpp" \
  $(pkg-config --cflags --libs cudascan)
printf 'P5\n3 2\n255\n\012\310\012\310\012\310' >"$folder/in.pgm"
"$folder/example" "$folder/in.pgm" "$folder/out.pgm"
[ -s "$folder/out.pgm" ]

as_root dpkg --purge "${packages[@]}" >/dev/null
[ -z "$(user gst-inspect-1.0 2>/dev/null | grep -o '^cudascan' | head -1)" ] ||
  die "The elements still exist after the packages were removed."
say "The Debian packages build, install, work and can be removed"
