# SPDX-License-Identifier: LGPL-2.1-or-later
"""The examples of embedding: capture in C++ and in Python do the same, so they pass the same tests.

The environment variable CAPTURE is the command of one of them. With CUDA=1 the tests of CUDAMemory
run.
"""
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import program  # noqa: E402
from camera import NAME, Camera  # noqa: E402

CAPTURE = shlex.split(os.environ["CAPTURE"])
IS_PYTHON = CAPTURE[-1].endswith(".py")
FRAME = 320 * 240  # bytes of the test picture
CHAIN = ("capsfilter caps=video/x-raw ! videoconvert ! cudalinearopen length=9 directions=12 "
         "report=message"
         " ! cudaautothreshold smoothing=0.5 report=message ! video/x-raw,format=GRAY8").split()


def capture(*arguments, **more):
    return program.run([*CAPTURE, *arguments], **more)


def values(field, text):
    return [float(number) for number in re.findall(rf"\b{field}(?: |=\(\w+\))([-+.e\d]+)", text)]


def setUpModule():
    if program.run([*CAPTURE, "--help"]).returncode:
        raise unittest.SkipTest("the program does not start: " + capture("--help").stderr[-200:])


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "pixels.raw"

    def start(self, *arguments, inside=()):
        """The running program. Its output goes to files, so that it never waits for a reader."""
        self.log, self.errors = self.folder / "log", self.folder / "errors"
        with open(self.log, "wb") as log, open(self.errors, "wb") as errors:
            process = subprocess.Popen([*inside, *CAPTURE, *arguments], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=errors)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, process, frames):
        """Waits until this many more frames were reported."""
        def count():
            return len(values("threshold", self.log.read_text()))
        enough = count() + frames
        program.wait_until(lambda: count() >= enough or process.poll() is not None, "more frames")
        self.assertGreaterEqual(count(), enough, self.errors.read_text())


class Frames(Folder):
    def test_pixels_and_reports_are_those_of_gst_launch(self):
        run = capture("--test", "--frames=7", "--output", self.file)
        self.assertEqual(run.returncode, 0, run.stderr)
        peer = program.run(["gst-launch-1.0", "-m", "videotestsrc", "num-buffers=7", "!", *CHAIN,
                            "!", "filesink", f"location={self.folder / 'peer.raw'}"])
        self.assertEqual(peer.returncode, 0, peer.stderr)
        self.assertEqual(self.file.stat().st_size, 7 * FRAME)
        self.assertTrue(self.file.read_bytes() == (self.folder / "peer.raw").read_bytes())
        self.assertEqual(len(set(self.file.read_bytes())), 2)
        self.assertIn("7 frames, camera opened 1 times", run.stdout)
        thresholds, angles = values("threshold", run.stdout), values("dominant-angle", run.stdout)
        self.assertEqual(thresholds, values("threshold", peer.stdout))
        self.assertEqual(len(angles), 7)
        for angle, other in zip(angles, values("dominant-angle", peer.stdout)):
            self.assertAlmostEqual(angle, other, places=2)

    def test_reports_end_with_the_frames(self):
        os.mkfifo(self.file)
        process = self.start("--test", "--frames=3", f"--output={self.file}")
        with open(self.file, "rb") as reader:
            # A frame is larger than a pipe's buffer, so the camera is ahead of the program.
            time.sleep(0.5)
            self.assertEqual(len(reader.read()), 3 * FRAME)
        self.assertEqual(process.wait(10), 0, self.errors.read_text())
        self.assertEqual(len(values("threshold", self.log.read_text())), 3)

    def test_zero_frames_are_no_limit(self):
        process = self.start("--test", "--frames=0")
        self.wait_for(process, 5)
        process.terminate()
        self.assertEqual(process.wait(10), 0)

    @unittest.skipIf(IS_PYTHON, "the interpreter keeps objects to its end")
    def test_no_object_is_left(self):
        for arguments in (["--test", "--frames=3"], ["--list"], ["--camera=nobody"],
                          ["--test", "--cuda"]):
            run = capture(*arguments, env={"GST_TRACERS": "leaks", "GST_DEBUG": "GST_TRACER:7"})
            alive = [line for line in run.stderr.splitlines()
                     if "object-alive," in line and "type-name=(string)" in line
                     and "%s" not in line]
            self.assertEqual(alive, [], arguments)


@unittest.skipIf(IS_PYTHON, "the program takes frames in system memory")
class CudaMemory(Folder):
    def test_cuda_frames_are_those_of_system_memory(self):
        if os.environ.get("CUDA") not in ("1", "emulated"):
            self.skipTest("of the suite cuda")
        if os.environ["CUDA"] == "1" and subprocess.run("nvidia-smi -L | grep -q ^GPU", shell=True,
                                                        stderr=subprocess.DEVNULL).returncode:
            self.assertNotEqual(os.environ.get("REQUIRE_GPU"), "1", "there is no CUDA device")
            self.skipTest("there is no CUDA device")
        run = capture("--test", "--frames=5", "--output", self.file)
        self.assertEqual(run.returncode, 0, run.stderr)
        other = self.folder / "cuda.raw"
        run = capture("--test", "--frames=5", "--cuda", "--output", other)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(self.file.read_bytes() == other.read_bytes())
        self.assertEqual(len(re.findall(r"(?m)^on the GPU at 0x[0-9a-f]+$", run.stdout)), 5,
                         run.stdout)

    def test_without_a_gpu_is_refused(self):
        run = capture("--test", "--frames=5", "--cuda", env={"CUDA_VISIBLE_DEVICES": ""})
        self.assertEqual(run.returncode, 1)
        self.assertIn("--cuda needs an NVIDIA GPU", run.stderr)


class Errors(Folder):
    def test_no_camera(self):
        run = capture("--camera", "nobody's camera")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("nobody's camera", run.stderr)
        self.assertIn("--list", run.stderr)

    def test_a_number_that_is_too_high(self):
        run = capture("--camera", "1000")
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertIn("1000", run.stderr)

    def test_wrong_arguments(self):
        for argument in ("--no-such-option", "stray", "--frames=many"):
            run = capture(argument)
            self.assertEqual(run.returncode, 2, argument)
            self.assertRegex(run.stderr, argument.removeprefix("--frames=").lstrip("-"))

    def test_a_file_that_cannot_be_made(self):
        run = capture("--test", "--output", self.folder / "nowhere" / "pixels.raw")
        self.assertEqual(run.returncode, 1)
        self.assertIn("nowhere/pixels.raw", run.stderr)

    def test_a_full_disk(self):
        run = capture("--test", "--output", "/dev/full", timeout=20)
        self.assertEqual(run.returncode, 1)
        self.assertIn("/dev/full", run.stderr)

    def test_a_missing_plugin_is_named(self):
        run = capture("--test", "--frames=1",
                      env={"GST_PLUGIN_PATH_1_0": "", "GST_PLUGIN_PATH": "",
                           "GST_REGISTRY": str(self.folder / "registry.bin")})
        if run.returncode == 0:
            self.skipTest("the plugin is installed")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("cudalinearopen", run.stderr)


class Signals(Folder):
    def test_ends_with_whole_frames(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = self.start("--test", "--output", str(self.file))
            self.wait_for(process, 5)
            process.send_signal(number)
            self.assertEqual(process.wait(10), 0, self.errors.read_text())
            frames = int(re.search(r"(\d+) frames", self.log.read_text())[1])
            self.assertGreaterEqual(frames, 5)
            self.assertEqual(self.file.stat().st_size, frames * FRAME)

    def test_at_any_time(self):
        for delay in (0, 0.03, 0.1, 0.2, 0.4):
            process = self.start("--test")
            time.sleep(delay)
            process.terminate()
            # Earlier, the program has no handler yet and the signal kills it.
            self.assertIn(process.wait(10), (0, -signal.SIGTERM), self.errors.read_text())
            self.assertNotIn("CRITICAL", self.errors.read_text())


class Provider(Folder):
    """Cameras that a device provider announces."""

    def setUp(self):
        super().setUp()
        self.cameras = self.folder / "cameras"
        self.cameras.mkdir()
        for name in ("Left eye", "Right eye"):
            (self.cameras / name).touch()
        os.environ["CAMERAS"] = str(self.cameras)
        self.addCleanup(os.environ.pop, "CAMERAS")

    def test_are_listed_with_numbers(self):
        run = capture("--list")
        self.assertEqual(run.returncode, 0, run.stderr)
        for name in ("Left eye", "Right eye"):
            self.assertRegex(run.stdout, rf"(?m)^\d+: {name}$")

    def number(self, name):
        return re.search(rf"(?m)^(\d+): {name}$", capture("--list").stdout)[1]

    def test_are_chosen_by_name_and_number(self):
        for choice in ("Left eye", self.number("Left eye")):
            run = capture("--camera", choice, "--frames=2", "--output", self.file)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(self.file.stat().st_size, 2 * FRAME)

    def test_rows_are_written_without_their_padding(self):
        (self.cameras / "Odd one").touch()
        run = capture("--camera=Odd one", "--frames=2", "--output", self.file)
        self.assertEqual(run.returncode, 0, run.stderr)
        peer = self.folder / "peer.raw"
        launch = program.run(["gst-launch-1.0", "videotestsrc", "num-buffers=2", "!",
                              "video/x-raw,format=GRAY8,width=61,height=43", "!", *CHAIN, "!",
                              "filesink", f"location={peer}"])
        self.assertEqual(launch.returncode, 0, launch.stderr)
        rows, stride = peer.read_bytes(), peer.stat().st_size // (2 * 43)
        self.assertEqual(stride, 64)
        self.assertTrue(self.file.read_bytes() ==
                        b"".join(rows[y * stride:y * stride + 61] for y in range(2 * 43)))

    def test_one_that_was_unplugged_is_waited_for(self):
        # The camera is chosen by its number. That may now be the other camera's number, so the
        # program must remember the name.
        process = self.start("--camera", self.number("Left eye"))
        self.wait_for(process, 3)
        (self.cameras / "Left eye").unlink()
        # The program looks for it more than once: the first time it is unplugged, then it is not in
        # the list.
        program.wait_until(lambda: "no camera Left eye" in self.errors.read_text(), "a second look",
                           10)
        self.assertIn("Left eye: unplugged; trying again", self.errors.read_text())
        self.assertIsNone(process.poll())
        (self.cameras / "Left eye").touch()
        self.wait_for(process, 3)
        process.terminate()
        self.assertEqual(process.wait(10), 0)
        self.assertIn("camera opened 2 times", self.log.read_text())

    def test_unplugging_another_one_changes_nothing(self):
        process = self.start("--camera=Left eye")
        self.wait_for(process, 3)
        (self.cameras / "Right eye").unlink()
        self.wait_for(process, 10)
        self.assertEqual(self.errors.read_text(), "")
        process.terminate()
        self.assertEqual(process.wait(10), 0)
        self.assertIn("camera opened 1 times", self.log.read_text())

    def test_a_camera_that_does_not_end_is_left(self):
        (self.cameras / "Endless").touch()
        for signals in (1, 2):
            process = self.start("--camera=Endless")
            self.wait_for(process, 3)
            for _ in range(signals):
                process.terminate()
                time.sleep(0.3)
            self.assertEqual(process.wait(10), 0, self.errors.read_text())
            self.assertIn("camera opened 1 times", self.log.read_text())

    def test_ends_while_it_waits_for_a_camera(self):
        process = self.start("--camera=Left eye")
        self.wait_for(process, 3)
        (self.cameras / "Left eye").unlink()
        program.wait_until(lambda: "trying again" in self.errors.read_text(), "word of its end", 10)
        process.terminate()
        self.assertEqual(process.wait(10), 0)


class GigE(Folder):
    def take_three(self, camera, choice):
        run = program.run([*camera.inside, *CAPTURE, f"--camera={choice}", "--frames=3",
                           f"--output={self.file}"])
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.file.stat().st_size, 3 * 512 * 512)
        self.assertEqual(len(values("threshold", run.stdout)), 3)

    def test_is_chosen_by_name_and_address(self):
        with Camera() as camera:
            camera.plug_in()
            for choice in (NAME, "127.0.0.1"):
                self.take_three(camera, f"aravis:{choice}")

    @unittest.skipUnless(IS_PYTHON, "the program lists the cameras of device providers")
    def test_is_listed_and_chosen_by_number(self):
        with Camera() as camera:
            camera.plug_in()
            listed = program.run([*camera.inside, *CAPTURE, "--list"])
            self.assertEqual(listed.returncode, 0, listed.stderr)
            number = re.search(rf"^(\d+): aravis:{NAME}$", listed.stdout, re.M)
            if not number:
                self.skipTest("there is no gir1.2-aravis-0.8")
            self.take_three(camera, number[1])

    def test_goes_on_when_the_camera_comes_back(self):
        with Camera() as camera:
            camera.plug_in()
            process = self.start(f"--camera=aravis:{NAME}", inside=camera.inside)
            self.wait_for(process, 5)
            camera.unplug()
            program.wait_until(lambda: "trying again" in self.errors.read_text(), "word of its end",
                               15)
            self.assertIsNone(process.poll())
            camera.plug_in()
            self.wait_for(process, 5)
            process.terminate()
            self.assertEqual(process.wait(20), 0, self.errors.read_text())
            opened = re.search(r"opened (\d+) times", self.log.read_text())
            self.assertGreaterEqual(int(opened[1]), 2)

    def test_a_camera_whose_frames_never_arrive_whole(self):
        with Camera() as camera:
            camera.plug_in("--gvsp-lost-ratio=500")
            process = self.start(f"--camera=aravis:{NAME}", inside=camera.inside)
            program.wait_until(lambda: "packets may be lost" in self.errors.read_text(), "word")
            # aravissrc cannot be stopped then. A third signal leaves it.
            for _ in range(3):
                process.terminate()
                time.sleep(0.3)
            self.assertEqual(process.wait(5), -signal.SIGTERM)

    def test_a_camera_that_does_not_answer(self):
        with Camera() as camera:
            run = program.run([*camera.inside, *CAPTURE, "--camera=aravis:127.0.0.9"])
            self.assertEqual(run.returncode, 3, run.stderr)
            self.assertIn("127.0.0.9", run.stderr)


if __name__ == "__main__":
    program.main()
