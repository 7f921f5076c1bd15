# SPDX-License-Identifier: LGPL-2.1-or-later
"""devices-example: the kernel library on several GPUs. DEVICES_EXAMPLE is its path."""
import os
import pathlib
import tempfile
import unittest

import program


def otsu(pixels):
    """The threshold with the largest variance between the classes, the lowest of several."""
    def variance(threshold):
        below = [p for p in pixels if p <= threshold]
        above = [p for p in pixels if p > threshold]
        if not below or not above:
            return 0
        means = sum(below) / len(below), sum(above) / len(above)
        return len(below) * len(above) * (means[0] - means[1]) ** 2
    return max(range(256), key=variance)


class Devices(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def thresholds(self, *files, **more):
        return program.run([os.environ["DEVICES_EXAMPLE"], *files], **more)

    def test_thresholds_come_in_the_order_of_the_files(self):
        files, expected = [], []
        for i in range(15):
            width, height = 9 + i, 20 - i
            pixels = bytes((x * x * (i + 1) + 7 * y * y + x * y) % (100 + 10 * i)
                           for y in range(height) for x in range(width))
            files.append(self.folder / f"{i}.pgm")
            files[-1].write_bytes(b"P5\n%d %d\n255\n" % (width, height) + pixels)
            expected.append(f"{files[-1]}: {otsu(pixels)}")
        run = self.thresholds(*files)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines(), expected)
        self.assertGreater(len({line.split()[-1] for line in expected}), 5)

    def test_errors(self):
        wrong = self.folder / "wrong.pgm"
        for content, sentence in ((b"P2\n1 1\n255\n0\n", "wrong.pgm: not a binary 8-bit PGM"),
                                  (b"P5\n4 4\n255\n" + bytes(15), "wrong.pgm: ends too early")):
            wrong.write_bytes(content)
            run = self.thresholds(wrong)
            self.assertEqual(run.returncode, 1)
            self.assertIn(sentence, run.stderr)
        run = self.thresholds()
        self.assertEqual(run.returncode, 1)
        self.assertIn("usage", run.stderr)


if __name__ == "__main__":
    program.main()
