# SPDX-License-Identifier: LGPL-2.1-or-later
"""A V4L2 camera through each element, in every format that it has and the elements take, and in
JPEG. It is a device of one of the kernel's modules vivid and v4l2loopback, or the real camera that
the environment variable V4L2_CAMERA names, for instance /dev/video0."""
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program  # noqa: E402
from frames import Gst, Stream, elements  # noqa: E402

# GREY, Y16, YUYV, NV12, YU12, BGR3 and MJPG of V4L2. v4l2src has no caps for Y10 and Y12.
FORMATS = [(f"video/x-raw,format={name}", "")
           for name in ("GRAY8", "GRAY16_LE", "YUY2", "NV12", "I420", "BGR")]
FORMATS.append(("image/jpeg", "! jpegdec"))
SIZE = "width=320,height=240,framerate=30/1"


def devices():
    """The paths of devices that give frames by themselves, and of those of v4l2loopback."""
    cameras, loopbacks = [], []
    if "V4L2_CAMERA" in os.environ:
        cameras.append(os.environ["V4L2_CAMERA"])
    for node in sorted(pathlib.Path("/sys/class/video4linux").glob("video*")):
        if "vid-cap" in (node / "name").read_text():  # vivid-000-vid-cap
            cameras.append(f"/dev/{node.name}")
        elif (node / "max_openers").exists():
            loopbacks.append(f"/dev/{node.name}")
    return cameras, loopbacks


def offered(source):
    """The caps of a source that is open."""
    element = Gst.parse_launch(source)
    element.set_state(Gst.State.READY)
    caps = element.get_static_pad("src").query_caps()
    element.set_state(Gst.State.NULL)
    return caps


class V4l2(unittest.TestCase):
    def check(self, source, caps, decoder):
        with self.subTest(source, caps=caps), Stream(
                f"{source} num-buffers=6 ! {caps},{SIZE} {decoder}", elements()) as stream:
            stream.check(self)
            times = [frame.pts for frame in stream.frames]
            self.assertEqual(len(times), 6)
            self.assertEqual(times, sorted(set(times)))

    def test_a_camera(self):
        cameras, _ = devices()
        if not cameras:
            self.skipTest("no camera: load the module vivid or set V4L2_CAMERA")
        for source in (f"v4l2src device={path}" for path in cameras):
            has = offered(source)
            formats = [(caps, decoder) for caps, decoder in FORMATS
                       if has.can_intersect(Gst.Caps.from_string(f"{caps},{SIZE}"))]
            self.assertTrue(formats, f"{source} has none of the formats in {SIZE}")
            for caps, decoder in formats:
                self.check(source, caps, decoder)

    def test_a_device_that_a_program_feeds(self):
        _, loopbacks = devices()
        if not loopbacks:
            self.skipTest("no device of the module v4l2loopback")
        for path in loopbacks:
            for caps, decoder in FORMATS:
                feed = (f"{caps},{SIZE}" if not decoder else
                        f"video/x-raw,format=I420,{SIZE} ! jpegenc")
                feeder = Gst.parse_launch(f"videotestsrc pattern=ball is-live=true ! {feed} ! "
                                          f"v4l2sink device={path}")
                self.addCleanup(feeder.set_state, Gst.State.NULL)
                feeder.set_state(Gst.State.PLAYING)
                feeder.get_state(10 * Gst.SECOND)
                self.check(f"v4l2src device={path}", caps, decoder)
                feeder.set_state(Gst.State.NULL)


if __name__ == "__main__":
    program.main()
