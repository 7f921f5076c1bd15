# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs that cudascan-scan is measured next to."""
import pathlib
import shutil


def installed(options, tools):
    """Those of the programs that are installed here.

    options  with the folder of scan-peer-leptonica, and the tools that the user has named, or ""
    tools    name to function, of all programs
    """
    missing = {
        "Leptonica": not (options.folder / "scan-peer-leptonica").exists(),
        "unpaper": shutil.which("unpaper") is None,
        "ImageMagick": not pathlib.Path("/usr/bin/convert").exists()}
    wanted = options.tools.split(",") if options.tools else list(tools)
    return {name: tool for name, tool in tools.items()
            if name in wanted and not missing.get(name, False)}
