# SPDX-License-Identifier: LGPL-2.1-or-later
"""Pages with further files, in runs that are killed and resumed."""
import os
import signal
import subprocess
import unittest

import program
import scans


@unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
class Kills(scans.Case):
    """A run that is killed at any moment and resumed ends with the files of an undisturbed one."""

    def check(self, output, folders, also, step=1):
        self.save(scans.text_page(124, 175), "in/0.png")
        words = ["in", f"--also={also}", "--enlarge=no"]
        if output:
            words.append("--title=Pages")
        self.scan(*words, "-o", f"alone{output}")
        moment, killed, moments = 0, True, []
        while killed:
            name = f"book{moment}{output}"
            run = subprocess.run(
                [scans.SCAN, "--backend=cpu", "--jobs=1", *words, "-o", name], cwd=self.folder,
                env={**os.environ, "LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                     "STOP_AT": str(moment)}, stderr=subprocess.DEVNULL, check=False)
            self.assertIn(run.returncode, (0, -signal.SIGKILL))
            killed = run.returncode != 0
            moments.append(moment)
            with self.subTest(moment):
                self.scan(*words, "-o", name, "--resume")
                for folder in folders:
                    self.assertEqual(self.contents(self.folder / (name + folder)),
                                     self.contents(self.folder / f"alone{output}{folder}"))
            moment += step
        self.assertGreater(moment, 12)
        return moments

    def test_pages(self):
        self.check("", [""], "gray.tif,color.png")

    def test_pdf(self):
        moments = self.check(".pdf", [".also"], "gray.tif", step=2)
        alone = (self.folder / "alone.pdf").read_bytes()
        for moment in moments:
            self.assertEqual((self.folder / f"book{moment}.pdf").read_bytes(), alone)
            self.assertFalse((self.folder / f"book{moment}.pdf.pages").exists())


if __name__ == "__main__":
    program.main()
