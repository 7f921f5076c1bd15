# SPDX-License-Identifier: LGPL-2.1-or-later
"""library-example: the kernel library without GStreamer. LIBRARY_EXAMPLE is its path."""
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program  # noqa: E402

WIDTH, HEIGHT = 61, 43


class Library(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.input, self.output = self.folder / "in.pgm", self.folder / "out.pgm"
        self.pixels = bytes((x * x + 7 * y * y + x * y) % 256 for y in range(HEIGHT)
                            for x in range(WIDTH))
        self.header = b"P5\n%d %d\n255\n" % (WIDTH, HEIGHT)
        self.input.write_bytes(self.header + self.pixels)

    def binarize(self, *arguments, **more):
        return program.run([os.environ["LIBRARY_EXAMPLE"], *arguments], **more)

    def refused(self, content, word):
        self.input.write_bytes(content)
        run = self.binarize(self.input, self.output)
        self.assertEqual(run.returncode, 1)
        self.assertIn(word, run.stderr)
        self.assertIn("in.pgm", run.stderr)
        self.assertFalse(self.output.exists())

    def test_pixels_are_those_of_the_element(self):
        run = self.binarize(self.input, self.output)
        self.assertEqual(run.returncode, 0, run.stderr)
        result = self.output.read_bytes()
        self.assertTrue(result.startswith(self.header))
        result = result[len(self.header):]
        self.assertEqual(len(result), len(self.pixels))
        self.assertAlmostEqual(float(run.stdout.split()[0]), 100 * result.count(0) / len(result),
                               places=3)
        raw, peer = self.folder / "in.raw", self.folder / "peer.raw"
        raw.write_bytes(self.pixels)
        # rawvideoparse takes rows without padding. filesink writes the memory as it is: 64 bytes
        # for 61 pixels.
        launch = program.run(
            ["gst-launch-1.0", "filesrc", f"location={raw}", f"blocksize={len(self.pixels)}", "!",
             "rawvideoparse", "format=gray8", f"width={WIDTH}", f"height={HEIGHT}",
             f"plane-strides=<{WIDTH}>", f"frame-size={len(self.pixels)}", "!",
             "cudabinarize", "!", "filesink", f"location={peer}"])
        self.assertEqual(launch.returncode, 0, launch.stderr)
        stride = peer.stat().st_size // HEIGHT
        rows = peer.read_bytes()
        self.assertTrue(result == b"".join(rows[y * stride:y * stride + WIDTH]
                                           for y in range(HEIGHT)))

    def test_results_do_not_depend_on_the_instruction_set(self):
        results = set()
        for isa in ("", "baseline", "avx2", "avx512"):
            run = self.binarize(self.input, self.output, env={"CUDASCAN_MAX_CPU_ISA": isa})
            self.assertEqual(run.returncode, 0, run.stderr)
            results.add(self.output.read_bytes())
        self.assertEqual(len(results), 1)

    def test_an_instruction_set_that_there_is_not(self):
        # With a sink that waits for its first frame gst-launch-1.0 sometimes misses the error that
        # comes before, and waits for ever.
        launch = ["gst-launch-1.0", "videotestsrc", "num-buffers=1", "!",
                  "video/x-raw,format=GRAY8", "!", "cudanick", "backend=cpu", "!", "fakesink",
                  "async=false"]
        wrong = {"CUDASCAN_MAX_CPU_ISA": "sse9"}
        for run in (self.binarize(self.input, self.output, env=wrong),
                    program.run(launch, env=wrong)):
            self.assertEqual(run.returncode, 1)
            self.assertIn("CUDASCAN_MAX_CPU_ISA=sse9 is not an instruction set; set it to "
                          "baseline, avx2, "
                          "avx512 or avx512vbmi, or unset it", run.stderr)

    def test_no_arguments(self):
        run = self.binarize()
        self.assertEqual(run.returncode, 1)
        self.assertIn("usage", run.stderr)

    def test_files_that_are_no_pgm(self):
        self.refused(b"", "not a binary 8-bit PGM")
        self.refused(b"P2\n1 1\n255\n0\n", "not a binary 8-bit PGM")
        self.refused(b"P5\n4 4\n65535\n" + bytes(32), "not a binary 8-bit PGM")
        self.refused(b"P5\n-4 4\n255\n" + bytes(32), "not a binary 8-bit PGM")

    def test_a_truncated_file(self):
        self.refused(self.header + self.pixels[:-1], "ends too early")

    def test_a_result_that_cannot_be_written(self):
        for path in (self.folder / "nowhere" / "out.pgm", "/dev/full"):
            run = self.binarize(self.input, path)
            self.assertEqual(run.returncode, 1)
            self.assertIn(str(path), run.stderr)


if __name__ == "__main__":
    program.main()
