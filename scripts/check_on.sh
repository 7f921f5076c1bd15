#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   scripts/check_on.sh [--all] [--folder FOLDER] SUITE
#
# Builds and tests on another Debian, such as trixie or sid, and so with another GStreamer and
# another compiler. The other Debian is a folder made by mmdebstrap; nothing of this machine is
# changed but for that package. Runs as root or with sudo, and takes 2 GB of disk, or 4 with --all.
#
# If NVIDIA's toolkit is found here, the elements are built with their CUDA code and tested on the
# emulated GPU; otherwise they are built and tested without CUDA. nvcc itself is not run there: each
# version of it refuses compilers that are newer.
#
#   --all             also runs pipelines and random streams on the emulated GPU, builds everything,
#                     without CUDA, and runs all tests
#   --folder FOLDER   keep the other Debian and its builds here, for the next time; by default they
#                     are in a temporary folder
#
# The exit status is 3 if the folder cannot be made, as when no mirror can be reached or namespaces
# are not allowed.
set -euo pipefail
# shellcheck source=scripts/setup.sh
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
usage() { die "usage: scripts/check_on.sh [--all] [--folder FOLDER] SUITE"; }

all='' folder='' suite=''
while [ $# -gt 0 ]; do
  case $1 in
    --all) all=1 ;;
    --folder)
      folder=${2:-}
      [ -n "$folder" ] || usage
      shift
      ;;
    -*) usage ;;
    *)
      [ -z "$suite" ] || usage
      suite=$1
      ;;
  esac
  shift
done
[ -n "$suite" ] || usage

command -v apt-get >/dev/null || die "scripts/check_on.sh needs Debian or Ubuntu."
as_root unshare --mount --pid --fork --propagation private true 2>/dev/null || {
  say "This machine allows no namespaces, which keep another Debian apart." >&2
  exit 3
}
if [ -z "$folder" ]; then
  temporary=$(mktemp -d)
  trap 'as_root rm -rf "$temporary"' EXIT
  folder=$temporary/$suite
fi
folder=$(realpath -m "$folder")

packages=("${build_packages[@]}" "${cuda_packages[@]}" libgtest-dev python3)
[ -z "$all" ] || packages+=("${test_packages[@]}" "${translator_packages[@]}" \
  "${program_packages[@]}" "${program_test_packages[@]}")

root_folder=$folder/root${all:+-all}
mkdir -p "$folder"
if [ ! -d "$root_folder" ]; then
  say "Making $suite"
  # Pages and translations that nobody reads there are not unpacked.
  make_debian "$root_folder" "$suite" --variant=essential \
    --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
    --dpkgopt='path-exclude=/usr/share/locale/*' --include="$(IFS=,; echo "${packages[*]}")" || {
    say "The folder with Debian $suite could not be made." >&2
    exit 3
  }
fi

# in_suite COMMAND: runs it there, as root, with what is shared at its own place and read-only. The
# mounts and processes live in namespaces, so they end with it, however it ends.
shared=("$root")
[ ! -d "$root/../shared" ] || shared+=("$(realpath "$root/../shared")")  # more test data
nvcc=$(nvcc_path)
[ -z "$nvcc" ] || nvcc=$(realpath "$nvcc")
case $nvcc in
  /usr/bin/nvcc) nvcc='' ;;  # a toolkit that is spread over /usr cannot be shared
  ?*) shared+=("${nvcc%/bin/nvcc}") ;;
esac
in_suite() {
  as_root unshare --mount --pid --fork --kill-child --propagation private \
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 bash -euc '
      folder=$1 command=$2
      shift 2
      mount -t proc proc "$folder/proc"
      mount --rbind /dev "$folder/dev"
      for path in "$@"; do
        mkdir -p "$folder$path"
        mount --bind -o ro "$path" "$folder$path"
      done
      exec chroot "$folder" bash -euo pipefail -c "$command"' \
    bash "$root_folder" "cd '$root'; . scripts/setup.sh; $1" "${shared[@]}"
}

# What is not run for its speed is compiled fast. A compiler newer than the code has new warnings.
options="-Dbuildtype=plain -Doptimization=1"
[ "$suite" = sid ] || options+=" -Dwerror=true"
versions=$(in_suite 'pkg-config --modversion gstreamer-1.0; c++ --version | head -1')
say "With GStreamer ${versions/$'\n'/, }"
if [ -n "$nvcc" ]; then
  say "The elements on the emulated GPU"
  emulated=tests/elements/emulated
  programs="$emulated/elements_emulated_test" tests=elements-emulated
  if [ -n "$all" ]; then
    programs+=" $emulated/pipelines_emulated_test $emulated/random_elements_emulated_test"
    tests+=" pipelines-emulated random-elements-emulated"
  fi
  in_suite "
    printf '[binaries]\nnvcc = %s\n' \"'$nvcc'\" >/nvcc.ini
    configure /emulated --native-file /nvcc.ini $options -Dcuda=enabled -Dexamples=disabled \
      -Dgswo=disabled
    compile /emulated $emulated/libgstcudascan.so $emulated/libcuda.so.1 \
      $emulated/libnvcuvid.so.1 $programs
    run_tests /emulated --no-rebuild $tests"
else
  say "The elements without CUDA"
  in_suite "
    configure /elements $options -Dcuda=disabled -Dexamples=disabled -Dgswo=disabled
    compile /elements gst/libgstcudascan.so tests/elements/elements_test
    run_tests /elements --no-rebuild elements"
fi
if [ -n "$all" ]; then
  say "Everything, without CUDA"
  in_suite "
    configure /all $options -Dcuda=disabled -Dtests=enabled
    cat /all/summary
    compile /all
    run_tests /all"
fi
