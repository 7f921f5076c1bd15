# SPDX-License-Identifier: LGPL-2.1-or-later
"""The elements of gst-cudascan that GStreamer finds."""
import re
import subprocess


def elements():
    """Their names; empty if gst-inspect-1.0 does not find the plugin."""
    page = subprocess.run(["gst-inspect-1.0", "cudascan"], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True, check=False).stdout
    return re.findall(r"^  (cuda\w+): ", page, re.MULTILINE)
