# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash disable=SC2034
# For quickstart and check: installs what the build needs, and configures it. To be sourced.
#
# BUILD_DIR   build folder, default build
# GPU_ARCH    nvcc -arch value; default: that of this machine's GPUs, otherwise one for all GPUs.
#             quickstart builds the CUDA code only if this machine has a GPU or the value is set.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${BUILD_DIR:-$root/build}

build_packages=(g++ meson ninja-build pkg-config libtbb-dev libssl-dev
  libgstreamer1.0-dev libgstreamer-plugins-base1.0-dev gstreamer1.0-tools gstreamer1.0-plugins-base
  gstreamer1.0-plugins-good gstreamer1.0-x)  # the last has the windows of autovideosink
cuda_packages=(libgstreamer-plugins-bad1.0-dev)      # the headers of GStreamer's CUDA library
sample_packages=(python3-numpy python3-pil fonts-liberation2 fonts-dejavu-core)
media_packages=(gstreamer1.0-libav gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)
test_packages=(libgtest-dev libgstreamer-plugins-bad1.0-dev gstreamer1.0-plugins-bad python3
  clang libclang-rt-dev)  # for fuzzing
translator_packages=(llvm-dev libclang-dev libclang-cpp-dev)  # for gswo-cc
# What cudascan-view and cudascan-scan are built with.
view_packages=(libgtk-3-dev)
scan_packages=(libvips-dev libtiff-dev libjpeg-dev libpng-dev libdeflate-dev zlib1g-dev libqpdf-dev
  libsane-dev libglib2.0-dev)
case $(uname -m) in x86_64 | aarch64) scan_packages+=(libisal-dev) ;; esac  # others may lack it
program_packages=("${view_packages[@]}" "${scan_packages[@]}")
# For their tests: a display and a mouse, simulated scanners and cameras, codecs for launch lines,
# and programs that read the results.
program_test_packages=(xvfb xauth xdotool gir1.2-gtk-3.0
  gstreamer1.0-libav gstreamer1.0-plugins-ugly
  libsane1 sane-utils libaravis-0.8-0 aravis-tools aravis-tools-cli iproute2 util-linux
  gstreamer1.0-opencv qpdf poppler-utils tesseract-ocr python3-pil python3-numpy python3-matplotlib
  python3-gi gir1.2-gstreamer-1.0 gir1.2-gst-plugins-base-1.0 gir1.2-aravis-0.8)
tutorial_packages=(python3-pexpect python3-numpy python3-pil poppler-utils xvfb)
site_packages=(python3-venv)  # for MkDocs and Ray, which come from PyPI
package_packages=(debhelper dpkg-dev lintian)

say() { printf '== %s\n' "$*"; }
die() {
  printf '%s\n' "$*" >&2
  exit 1
}
as_root() { if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi; }

nvcc_path() {
  local path
  for path in "$(command -v nvcc)" /usr/local/cuda/bin/nvcc /opt/cuda/bin/nvcc; do
    [ ! -x "$path" ] || { echo "$path" && return; }
  done
}
# The Python for which the distribution has packages.
system_python() {
  if [ -x /usr/bin/python3 ]; then echo /usr/bin/python3; else command -v python3; fi
}
have_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# For machines without apt: continues if the essentials are installed, otherwise names them.
require_tools() {
  local missing=() tool module
  for tool in c++ meson ninja pkg-config python3; do
    command -v "$tool" >/dev/null || missing+=("$tool")
  done
  if command -v pkg-config >/dev/null; then
    for module in tbb libcrypto gstreamer-video-1.0 gstreamer-pbutils-1.0; do
      pkg-config --exists "$module" || missing+=("$module")
    done
  fi
  [ ${#missing[@]} -eq 0 ] || die "Missing: ${missing[*]}.
This script installs packages on Debian and Ubuntu only. Install:
  Fedora:  sudo dnf install gcc-c++ meson ninja-build pkgconf tbb-devel openssl-devel \\
             gstreamer1-devel gstreamer1-plugins-base-devel gstreamer1-plugins-bad-free-devel \\
             gstreamer1-plugins-good gstreamer1-plugin-libav gtest-devel \\
             python3-numpy python3-pillow liberation-fonts dejavu-sans-fonts
  Arch:    sudo pacman -S --needed base-devel meson onetbb openssl gst-plugins-base \\
             gst-plugins-good gst-plugins-bad gst-plugins-ugly gst-libav gtest \\
             python-numpy python-pillow ttf-liberation ttf-dejavu
  Ubuntu 24.04, Debian 12 and 13:
           sudo apt install ${build_packages[*]} ${test_packages[*]} ${sample_packages[*]}"
}

# Installs those of the named Debian packages that are missing.
need() {
  if ! command -v apt-get >/dev/null; then
    require_tools
    return
  fi
  local missing=() package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] ||
      missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    die "Missing packages, and there is no sudo here. As root, run:
  apt-get install ${missing[*]}"
  fi
  say "Installing ${missing[*]}"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null </dev/null
}

# make_debian FOLDER SUITE [OPTION...]: makes a folder with that Debian, by mmdebstrap with these
# options, as root or with sudo. Nothing is flushed to disk. Nothing of this machine is changed but
# for that package.
make_debian() {
  local folder=$1 suite=$2 settings=$1.apt.conf mirror
  shift 2
  need mmdebstrap debian-archive-keyring
  # The mirror and the proxy of this machine's apt, if it has any.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
    'Component: main' | sed -n '/\/debian\/$/{p;q}')
  {
    apt-config dump --no-empty --format '%f "%v";%n' Acquire::http
    apt-config dump --no-empty --format '%f "%v";%n' Acquire::https
    # The state of a mirror may be dated.
    echo 'Acquire::Check-Valid-Until "false";'
    echo 'Acquire::Languages "none";'
  } >"$settings"
  as_root rm -rf "$folder.part"
  as_root mmdebstrap --aptopt="$settings" --dpkgopt=force-unsafe-io "$@" "$suite" "$folder.part" \
    "${mirror:-http://deb.debian.org/debian/}" >"$folder.log" 2>&1 || {
    tail -n 20 "$folder.log" >&2
    return 1
  }
  as_root mv "$folder.part" "$folder"
}

# configure FOLDER [OPTION...]: configures the folder with these options. If it is configured
# already, Meson searches again for what was missing. Quiet unless it fails; the summary is in
# FOLDER/summary.
configure() {
  local folder=$1 version arch again=()
  shift
  version=$(pkg-config --modversion gstreamer-video-1.0 2>/dev/null || echo 0)
  if [ "$version" != 0 ] && ! pkg-config --atleast-version=1.22 gstreamer-video-1.0; then
    die "GStreamer here is $version; 1.22 or newer is needed (Debian 12, Ubuntu 24.04 or newer)."
  fi
  if [ -n "$(nvcc_path)" ]; then
    # Without a GPU, compiles for the oldest architecture: the driver translates its code for newer
    # GPUs.
    arch=${GPU_ARCH:-$(have_gpu && echo native || echo sm_75)}
    set -- "-Dgpu_arch=$arch" "$@"
  fi
  [ ! -f "$folder/build.ninja" ] || again=(--reconfigure)
  mkdir -p "$folder"
  meson setup "${again[@]}" "$folder" "$root" "$@" >"$folder/configure.log" 2>&1 || {
    cat "$folder/configure.log" >&2
    die "Meson could not configure the build."
  }
  sed -n '/^gst-cudascan/,/^  User defined/{/^  User/d;p}' "$folder/configure.log" \
    >"$folder/summary"
}

# compile FOLDER [TARGET...], quiet unless it fails.
compile() {
  local folder=$1 log=$1/compile.log begun=$SECONDS
  shift
  ninja -C "$folder" "$@" >"$log" 2>&1 || {
    cat "$log" >&2
    die "The build failed."
  }
  say "Built in $((SECONDS - begun)) s"
}

# run_tests FOLDER [TEST...]: runs them, or all, and prints the count of cases as the last line.
run_tests() {
  # If a program crashes, Meson would take the report of an earlier run for it.
  find "$1" -maxdepth 1 -name '*.xml' -delete
  local begun=$SECONDS
  meson test -C "$@" --print-errorlogs --timeout-multiplier 3 || true
  say "Tested in $((SECONDS - begun)) s"
  "$(system_python)" "$root/scripts/count_tests.py" "$1/meson-logs"
}
