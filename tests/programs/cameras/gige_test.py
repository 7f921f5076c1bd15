# SPDX-License-Identifier: LGPL-2.1-or-later
"""A GigE Vision camera through each element: its formats, changes of the exposure, lost packets,
and a camera that leaves and comes back."""
import pathlib
import sys
import unittest

PROGRAMS = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(PROGRAMS), str(PROGRAMS / "capture")]
import camera  # noqa: E402
from frames import Stream, elements, np  # noqa: E402

WIDTH, HEIGHT, RATE = 323, 241, 50
GRAY = "video/x-raw,format=GRAY8"


def source(count, caps=GRAY):
    # The camera writes into its buffers again in turn, whether or not a frame is still in use.
    return (f"aravissrc name=camera camera-name={camera.NAME} num-buffers={count} "
            f"num-arv-buffers=200 ! {caps},width={WIDTH},height={HEIGHT},framerate={RATE}/1")


def ramp(frame):
    """The number of the frame modulo 255: the camera's picture is a diagonal ramp that moves by one
    level with each frame. None if the picture is another."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    number = int(frame.components[0][0, 0])
    return number if np.array_equal(frame.components[0], (x + y + number) % 255) else None


class GigE(unittest.TestCase):
    def setUp(self):
        self.camera = camera.Camera()
        self.addCleanup(self.camera.__exit__)

    def assertRising(self, numbers):
        self.assertEqual(numbers, sorted(set(numbers)))

    def test_every_element_takes_every_format(self):
        self.camera.plug_in()
        for name in ("GRAY8", "GRAY16_LE", "RGB"):
            with self.subTest(name), Stream(source(6, f"video/x-raw,format={name}"),
                                            elements()) as stream:
                stream.check(self)
                self.assertEqual([frame.format for frame in stream.frames], [name] * 6)
                self.assertEqual({frame.components[0].shape for frame in stream.frames},
                                 {(HEIGHT, WIDTH)})
                self.assertRising([frame.pts for frame in stream.frames])
                self.assertFalse(np.array_equal(stream.frames[0].components[0],
                                                stream.frames[5].components[0]))

    def test_without_any_caps_the_camera_gives_gray(self):
        self.camera.plug_in()
        for name in elements():
            chain = f"aravissrc camera-name={camera.NAME} num-buffers=2 ! {name}"
            with Stream(chain, []) as stream:
                self.assertEqual([frame.format for frame in stream.rest(stream.raw)],
                                 ["GRAY8"] * 2, stream.errors())

    def test_exposure_changes_while_frames_flow(self):
        self.camera.plug_in()
        lines = ["cudaequalize report=message", "cudaautothreshold report=message"]
        with Stream(source(24), lines) as stream:
            stream.wait(8)
            stream.pipeline.get_by_name("camera").set_property("exposure", 2000)  # was 10000
            stream.check(self)
            self.assertEqual(len(stream.frames), 24)
            self.assertRising([frame.pts for frame in stream.frames])
            means = [frame.components[0].mean() for frame in stream.frames]
            bright = [mean > 80 for mean in means]
            self.assertEqual(bright, sorted(bright, reverse=True), means)
            self.assertTrue(all(bright[:8]) and not bright[-1], means)
            reports = stream.reports("cudaequalize")
            for frame, mean in zip(stream.frames, means):
                self.assertAlmostEqual(reports[frame.pts].get_value("mean"), mean, places=6)
            thresholds = stream.reports("cudaautothreshold")
            self.assertGreater(thresholds[stream.frames[0].pts].get_value("threshold"),
                               thresholds[stream.frames[-1].pts].get_value("threshold") + 50)

    def test_lost_packets_lose_their_frames_only(self):
        # A frame has some 50 packets. One packet in 100 is lost.
        self.camera.plug_in("--gvsp-lost-ratio=10")
        with Stream(source(20), elements()) as stream:
            stream.check(self)
            self.assertEqual(len(stream.frames), 20)
            self.assertRising([frame.pts for frame in stream.frames])
            numbers = [ramp(frame) for frame in stream.frames]
            self.assertNotIn(None, numbers)
            self.assertGreater(sum((b - a) % 255 for a, b in zip(numbers, numbers[1:])), 19,
                               "no frame was lost")

    def test_a_camera_that_leaves_and_comes_back(self):
        self.camera.plug_in()
        with Stream(source(-1), elements()) as stream:
            aravissrc = stream.pipeline.get_by_name("camera")
            stream.wait(5)
            self.camera.unplug()
            stream.check(self)  # the end of the stream follows the error
            self.assertGreaterEqual(len(stream.frames), 5)
            self.assertEqual([source for source, _ in stream.errors()], ["camera"])
            self.camera.plug_in()
            stream.stop()
            aravissrc.set_property("camera-name", camera.NAME)  # this opens the camera
            aravissrc.set_property("num-buffers", 6)
            stream.play()
            stream.check(self)
            self.assertEqual(len(stream.frames), 6)
            self.assertNotIn(None, [ramp(frame) for frame in stream.frames])


if __name__ == "__main__":
    camera.main()
