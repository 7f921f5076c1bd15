# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shared by the tests of cudascan-scan with scanners: SANE's settings for one test."""
import pathlib
import unittest

import scans

BACKENDS = [folder / "libsane-test.so.1" for folder in pathlib.Path("/usr").glob("lib*/**/sane")]


@unittest.skipUnless(any(path.exists() for path in BACKENDS),
                     "SANE's test backend (libsane1) is not installed")
class Case(scans.Case):
    def setUp(self):
        super().setUp()
        self.configure()

    def configure(self, backends="test\n", **settings):
        """Makes a folder with SANE's settings for this test only."""
        self.config = self.folder / "sane.d"
        self.config.mkdir(exist_ok=True)
        defaults = {"number_of_devices": 1, "test-picture": '"Grid"', "resolution": 75.0,
                    "mode": "Gray", "read-limit": "false"}
        lines = {**defaults, **{key.replace("_", "-"): value for key, value in settings.items()}}
        (self.config / "dll.conf").write_text(backends)
        (self.config / "test.conf").write_text("".join(f"{key} {value}\n"
                                                       for key, value in lines.items()))
        self.environment = {"SANE_CONFIG_DIR": str(self.config)}

    def scan(self, *words, **more):
        return super().scan(*words, env=self.environment, **more)
