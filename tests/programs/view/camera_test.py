# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-view with a camera that goes away, comes back or loses packets."""
import fcntl
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import program
from viewer import VIEW, Folder, view


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

    def camera(self, *options):
        process = subprocess.Popen(["arv-fake-gv-camera-0.8", "-i", self.ADDRESS, *options],
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

    def test_a_camera_whose_frames_never_arrive_whole(self):
        if self.camera("--gvsp-lost-ratio=500").poll() is not None:
            self.skipTest("the fake camera does not start here")
        errors = self.folder / "errors"
        with open(errors, "w") as stderr:
            process = subprocess.Popen([VIEW, "--gige", self.ADDRESS, "--picture",
                                        self.folder / "x.png", "--frames", "1"],
                                       env={**os.environ, "DISPLAY": ""}, stderr=stderr)
        self.addCleanup(process.kill)
        program.wait_until(lambda: "Packets may be lost" in errors.read_text(), "word")
        # aravissrc cannot be stopped then, so the program leaves it.
        process.terminate()
        self.assertEqual(process.wait(20), 0, errors.read_text())

    def test_no_camera(self):
        result = view("--gige", "127.0.0.77", "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("cudascan-view: "), result.stderr)


if __name__ == "__main__":
    program.main()
