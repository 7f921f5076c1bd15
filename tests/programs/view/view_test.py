# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-view as a user runs it: with --picture and no display, and in a window under Xvfb."""
import fcntl
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import program

try:
    from PIL import Image
except ImportError:
    Image = None

VIEW = os.environ["CUDASCAN_VIEW"]
# A picture without edges: all levels of gray.
SLOPE = ("videotestsrc num-buffers={} pattern=gradient ! "
         "video/x-raw,format=GRAY8,width=320,height=240,framerate=30/1")


def view(*words, **more):
    return program.run([VIEW, *words], env={"DISPLAY": "", **more.pop("env", {})}, **more)


def stats_of(result):
    return json.loads(result.stdout.strip().splitlines()[-1])


class Folder(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)


@unittest.skipIf(Image is None, "python3-pil is not installed")
class Picture(Folder):
    """The view as PNG: 1200 pixels wide for the frame, with a margin of 12."""

    def picture(self, *words):
        path = self.folder / "view.png"
        result = view("--source", SLOPE.format(100), "--picture", path, "--stats", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Image.open(path).convert("L"), stats_of(result)

    def gray(self, image, left, right):
        """The share of pixels that are neither black nor white, in a part of the frame without its
        edges."""
        part = image.crop((12 + int(left * 1200) + 8, 40, 12 + int(right * 1200) - 8, 860))
        return sum(part.histogram()[8:248]) / (part.width * part.height)

    def test_before_is_left_of_the_divider_and_after_right_of_it(self):
        image, stats = self.picture("--divider", "0.5", "-e", "cudaautothreshold")
        self.assertGreater(self.gray(image, 0, 0.5), 0.5)
        self.assertLess(self.gray(image, 0.5, 1), 0.02)
        self.assertGreaterEqual(stats["frames"], 5)

    def test_the_divider_at_both_ends(self):
        after, _ = self.picture("--divider", "0", "-e", "cudaautothreshold")
        self.assertLess(self.gray(after, 0, 1), 0.02)
        before, _ = self.picture("--divider", "1", "-e", "cudaautothreshold")
        self.assertGreater(self.gray(before, 0, 1), 0.5)

    def test_properties_and_elements_change_while_it_runs(self):
        image, stats = self.picture("--divider", "0", "--frames", "60", "--do",
                                    "0.2:element=cudaautothreshold", "--do", "0.4:invert=true")
        self.assertEqual(stats["element"], "cudaautothreshold")
        self.assertIn("invert=true", stats["launch"])
        # The slope goes from black at the top to white at the bottom; inverted, it goes from white
        # to black.
        self.assertEqual((image.getpixel((600, 60)), image.getpixel((600, 880))), (255, 0))

    def test_sixteen_bits_and_colour(self):
        for form in ("GRAY16_LE", "I420", "NV12", "P010_10LE"):
            with self.subTest(form):
                image, _ = self.picture("--format", form, "-e", "cudaautothreshold")
                self.assertGreater(self.gray(image, 0, 0.5), 0.5)
                self.assertLess(self.gray(image, 0.5, 1), 0.02)


class Running(Folder):
    def run_some(self, *words, source=SLOPE.format(10), **more):
        return view("--source", source, "--picture", self.folder / "view.png", "--stats", *words,
                    **more)

    def test_latency_of_a_camera_and_none_of_a_file(self):
        camera = ("videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=320,height=240,"
                  "framerate=20/1 ! identity sleep-time=15000")
        latency = stats_of(self.run_some("--frames", "10", source=camera))["latency_ms"]
        self.assertGreaterEqual(latency["p50"], 15)
        self.assertGreaterEqual(latency["p99"], latency["p50"])
        # A frame of the source, and what a sink allows for processing by default.
        self.assertAlmostEqual(latency["reported"], 1000 / 20 + 20, places=2)
        self.assertIsNone(stats_of(self.run_some())["latency_ms"])

    def test_the_launch_line_runs(self):
        result = self.run_some("-e", "cudaswofilter", "operator=rank", "percentile=30",
                               "shape=010;111;010")
        line = stats_of(result)["launch"]
        self.assertIn("operator=rank", line)
        words = shlex.split(line.replace("autovideosink", "fakesink"))
        self.assertEqual(words[0], "gst-launch-1.0")
        again = program.run(words)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_only_what_differs_from_the_defaults_is_in_the_line(self):
        line = stats_of(self.run_some("-e", "cudanick", "window=31"))["launch"]
        self.assertIn("! cudanick window=31 !", line)

    def test_a_setting_that_the_element_refuses_is_taken_back(self):
        result = self.run_some("-e", "cudanick", "--frames", "40", "--do", "0.1:window=30",
                               source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0)
        self.assertIn("window = 30: must be an odd number", result.stderr)
        self.assertIn("window was reset to 67", result.stderr)
        self.assertNotIn("window=30", stats_of(result)["launch"])

    def test_a_property_that_counts_from_the_start_on_starts_it_again(self):
        result = self.run_some("--frames", "20", "--do", "0.5:backend=cpu", "--do",
                               "0.7:n-threads=1", source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("backend=cpu", stats_of(result)["launch"])
        self.assertGreaterEqual(stats_of(result)["frames"], 20)

    def test_a_source_that_ends_starts_anew(self):
        self.assertGreaterEqual(stats_of(self.run_some("--frames", "35"))["frames"], 35)

    def test_a_source_that_cannot_be_sought_is_opened_anew(self):
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        source = (f"multifilesrc location={page} num-buffers=4 "
                  "caps=image/png,framerate=30/1 ! decodebin")
        result = self.run_some("--frames", "20", source=source)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(stats_of(result)["frames"], 20)

    def test_it_ends_on_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen([VIEW, "--test", "ball", "--picture", self.folder / "no.png",
                                        "--seconds", "60"],
                                       env={**os.environ, "DISPLAY": ""})
            program.wait_for_handler(process, number)
            process.send_signal(number)
            self.assertEqual(process.wait(10), 0)


class Refusals(Folder):
    def refused(self, status, sentence, *words):
        result = view(*words)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(sentence, result.stderr)

    def test_what_makes_no_sense_is_told(self):
        picture = ["--picture", self.folder / "x.png"]
        test = ["--test", "ball", *picture]
        for status, sentence, *words in (
                (1, "nothing.png: file not found", *picture, "--frames", "1", "--source", "",
                 self.folder / "nothing.png"),
                (1, "use only one of FILE", *test, "--gige", "x"),
                (1, "element=cudanone: must be one of cudabinarize", *test, "-e", "cudanone"),
                (1, "windows=3: cudabinarize has no such property", *test, "windows=3"),
                (1, "level=none: must be one of fast, sized", *test, "level=none"),
                (1, "smoothing=much: must be a number", *test, "smoothing=much"),
                (2, "--divider must be from 0 to 1", *test, "-d", "2"),
                (2, "--do soon: must be SECONDS:NAME=VALUE", *test, "--do", "soon"),
                (2, "GREY: unknown video format", *test, "-f", "GREY"),
                (2, "--nonsense", "--nonsense"),
                (1, "there is no display; --picture", "--test", "ball"),
                (1, "", *picture, "--camera", "/dev/video99"),
                (1, "the picture cannot be written", "--test", "ball", "--picture",
                 self.folder / "no" / "x.png")):
            with self.subTest(words[-1]):
                self.refused(status, sentence, *words)

    def test_a_source_without_a_picture(self):
        result = view("--source", SLOPE.format(0), "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "cudascan-view: The source contains no picture.\n")

    def test_a_file_that_is_no_picture(self):
        path = self.folder / "broken.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
        result = view(path, "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("cudascan-view: "), result.stderr)


@unittest.skipUnless(shutil.which("arv-fake-gv-camera-0.8"), "aravis-tools-cli is not installed")
class GigE(Folder):
    """A fake GigE Vision camera on the loopback device; its protocol is real."""
    ADDRESS = "127.0.0.1"

    def setUp(self):
        super().setUp()
        # All tests share one address, so there can be one camera at a time.
        lock = open(pathlib.Path(tempfile.gettempdir()) / "cudascan-fake-camera.lock", "w")
        self.addCleanup(lock.close)
        fcntl.flock(lock, fcntl.LOCK_EX)

    def camera(self):
        process = subprocess.Popen(["arv-fake-gv-camera-0.8", "-i", self.ADDRESS],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        time.sleep(0.5)
        return process

    def start_and_kill_camera(self):
        """Starts a viewer and kills its camera. Returns the viewer and the file of its messages."""
        camera = self.camera()
        if camera.poll() is not None:
            self.skipTest("the fake camera does not start here")
        errors = self.folder / "errors"
        with open(errors, "w") as stderr:
            process = subprocess.Popen([VIEW, "--gige", self.ADDRESS, "--picture",
                                        self.folder / "x.png", "--stats",
                                        "--frames", "250"], env={**os.environ, "DISPLAY": ""},
                                        text=True,
                                       stdout=subprocess.PIPE, stderr=stderr)
        self.addCleanup(process.kill)
        program.wait_for_handler(process, signal.SIGTERM)
        time.sleep(3)
        camera.kill()
        camera.wait()
        program.wait_until(lambda: "Trying again every second" in errors.read_text(),
                           "a message about its end, even if closing takes long", 10)
        return process, errors

    def test_frames_arrive_and_the_camera_may_go_and_come_back(self):
        process, errors = self.start_and_kill_camera()
        self.camera()
        out = process.communicate(timeout=40)[0]
        self.assertEqual(process.returncode, 0, errors.read_text())
        self.assertGreaterEqual(json.loads(out)["frames"], 250)  # the second camera sends most
        self.assertTrue((self.folder / "x.png").exists())

    def test_it_ends_while_the_camera_is_gone(self):
        for seconds in (0, 6):  # the times for closing and for looking for the camera
            process, errors = self.start_and_kill_camera()
            time.sleep(seconds)
            process.terminate()
            process.communicate(timeout=40)
            self.assertEqual(process.returncode, 0, errors.read_text())

    def test_no_camera(self):
        result = view("--gige", "127.0.0.77", "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("cudascan-view: "), result.stderr)


@unittest.skipUnless(shutil.which("Xvfb") and Image, "xvfb or python3-pil is not installed")
class Window(Folder):
    def setUp(self):
        super().setUp()
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0",
                                        "1500x1000x24", "-nolisten",
                                        "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as display:
            self.display = ":" + display.readline().strip()
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        if program.run(["gst-inspect-1.0", "gtksink"]).returncode:
            self.skipTest("gstreamer1.0-gtk3 is not installed")

    def start(self, *words):
        environment = {**os.environ, "DISPLAY": self.display, "NO_AT_BRIDGE": "1",
                       "GDK_BACKEND": "x11"}
        process = subprocess.Popen([VIEW, "--source",
                                    SLOPE.format(100000).replace("! video", "is-live=true ! video"),
                                    "-e", "cudaautothreshold", "--screenshot",
                                    self.folder / "window.png", "--stats",
                                    *words], env=environment, text=True, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def end(self, process):
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("CRITICAL", err)
        return json.loads(out.strip().splitlines()[-1])

    def video(self):
        """The part of the window that shows the frame: on the left, above the plots."""
        image = Image.open(self.folder / "window.png").convert("L")
        self.assertGreater(image.width, 1000)
        return image.crop((20, 60, 950, 640))

    def test_before_and_after_in_a_window(self):
        self.end(self.start("--frames", "60"))
        video = self.video()
        left = video.crop((60, 0, video.width // 2 - 20, video.height))
        right = video.crop((video.width // 2 + 20, 0, video.width - 60, video.height))
        grays = [sum(side.histogram()[20:236]) / (side.width * side.height)
                 for side in (left, right)]
        self.assertGreater(grays[0], 0.5)
        self.assertLess(grays[1], 0.03)

    def test_a_setting_that_is_refused_is_shown_and_the_video_goes_on(self):
        process = self.start("--frames", "100", "--do", "1:element=cudanick", "--do", "2:window=8")
        self.assertEqual(self.end(process)["element"], "cudanick")

    def test_closing_by_a_signal(self):
        process = self.start()
        program.wait_for_handler(process, signal.SIGTERM)
        time.sleep(1)
        process.terminate()
        self.end(process)

    @unittest.skipUnless(shutil.which("xdotool"), "xdotool is not installed")
    def test_the_mouse_moves_the_divider(self):
        process = self.start()
        look = ["xdotool", "search", "--sync", "--onlyvisible", "--name", "^cudascan-view$"]
        self.assertEqual(program.run(look, env={"DISPLAY": self.display}).returncode, 0)
        program.wait_for_handler(process, signal.SIGTERM)
        time.sleep(1.5)
        mouse = ["xdotool", "mousemove", "500", "300", "sleep", "0.2", "mousedown", "1", "sleep",
                 "0.2", "mousemove",
                 "400", "300", "sleep", "0.2", "mousemove", "250", "300", "sleep", "0.3", "mouseup",
                 "1", "sleep", "0.2", "mousemove", "700", "300"]
        self.assertEqual(program.run(mouse, env={"DISPLAY": self.display}).returncode, 0)
        process.terminate()
        divider = self.end(process)["divider"]
        self.assertGreater(divider, 0.02)
        self.assertLess(divider, 0.4)


if __name__ == "__main__":
    program.main()
