# SPDX-License-Identifier: LGPL-2.1-or-later
"""The printed pages of examples/scan/page_maker.py for tests."""
import importlib
import pathlib
import sys

import scans

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples/scan"))
page_maker = importlib.import_module("page_maker") if scans.np is not None else None


def has_print():
    """Whether printed pages can be made: their texts and a font are installed."""
    return page_maker is not None and bool(page_maker.words_of("b")) and any(
        name in page_maker.font_files() for name in page_maker.PROPORTIONAL["b"])
