#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
#   scripts/archive_python.sh FOLDER
#
# Makes FOLDER/archive-python, a Python with Ray, for the tests of cudascan-archive in the build
# folder FOLDER. They are skipped without it: Debian has no Ray, PyPI does (300 MB).
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
[ $# -eq 1 ] || die "Usage: scripts/archive_python.sh FOLDER"
need "${site_packages[@]}"
python=$1/archive-python
[ -x "$python/bin/python" ] || "$(system_python)" -m venv "$python"
"$python/bin/pip" install --quiet --disable-pip-version-check \
  -r "$root/examples/archive/requirements.txt"
"$python/bin/python" -c 'import ray.data, s3fs, moto'
say "The tests of cudascan-archive will use $python"
