# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs of cudascan-scan --decode. The program has emulated GPUs; nvjpeg_stand_in.cpp is their
nvJPEG and nvimgcodec_stand_in.cpp their nvImageCodec. They decode as the CPU does: so files must be
the same."""
import json
import os
import shutil

import program
import scans

EMULATED = os.environ["CUDASCAN_SCAN_EMULATED"]
STAND_IN, INCOMPLETE = os.environ["NVJPEG_STAND_INS"].split(":")
CODEC, CODEC_INCOMPLETE, CODEC_OLD = os.environ["NVIMGCODEC_STAND_INS"].split(":")
USUAL = ["--method=otsu", "--enlarge=no", "--despeckle=2"]
COUNT = 4


class Case(scans.Case):
    """`count` pages in the folder "in"."""

    count = COUNT

    def write(self, name, data):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def setUp(self):
        super().setUp()
        for number in range(self.count):
            page = scans.turned(scans.text_page(260 + 11 * number, 340, seed=number), 2)
            # Gray and, in neutral colours, YCbCr of usual subsamplings.
            page = page if number % 4 == 0 else page.convert("RGB")
            subsampling = {} if number % 4 == 0 else {"subsampling": number % 4 - 1}
            self.save(page, f"in/{number}.jpg", dpi=(100, 100), quality=90, **subsampling)

    def decode(self, *words, status=0, told="", fail="", library=STAND_IN, by="gpu", out=None,
               codec=CODEC):
        """Runs the program on the emulated GPUs. Any status is right if it is None.
        @return what it said, and its statistics"""
        out = out or self.out
        shutil.rmtree(out, ignore_errors=True)
        stats = self.folder / "stats.json"
        stats.unlink(missing_ok=True)
        env = {"CUDASCAN_NVJPEG": str(library), "NVJPEG_STAND_IN": told,
               "CUDASCAN_NVIMGCODEC": str(codec), "NVIMGCODEC_STAND_IN": told}
        if fail:
            env["CUDASCAN_EMULATED_FAILURES"] = fail
        result = program.run([EMULATED, *USUAL, "--decode=" + by, "--stats", stats, "-o", out,
                              *words], cwd=self.folder, env=env)
        said = result.stdout + result.stderr
        if status is not None:
            self.assertEqual(result.returncode, status, said)
        return said, json.loads(stats.read_text()) if stats.exists() else None

    def usual(self, *words, **more):
        """The files that the CPU makes, and what it says."""
        out = self.folder / "usual"
        shutil.rmtree(out, ignore_errors=True)
        said = self.scan(*words, "-o", out, *USUAL, **more)
        return self.contents(out) if out.exists() else None, said
