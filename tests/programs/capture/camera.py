# SPDX-License-Identifier: LGPL-2.1-or-later
"""A GigE Vision camera for tests. It is Aravis's fake camera on the loopback device of a separate
network namespace, so no other test and no other machine sees it."""
import shutil
import subprocess
import time
import unittest

NAME = "Aravis-Fake-CAPTURE"
FAKE = "arv-fake-gv-camera-0.8"


class Camera:
    """For use with `with`. A program sees the camera if its command starts with `inside`."""

    def __init__(self):
        for tool in (FAKE, "unshare", "nsenter", "ip"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        if subprocess.run(["gst-inspect-1.0", "aravissrc"], stdout=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("there is no aravissrc")
        self.process = None
        self.network = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--net", "sh", "-c",
             "ip link set lo up && echo up && exec sleep 300"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.network.stdout.readline() != "up\n":
            why = self.network.stderr.read().strip()
            self.__exit__()
            raise unittest.SkipTest(f"no network of its own for the camera: {why}")
        self.inside = ["nsenter", "--preserve-credentials", "-U", "-n", "-t", str(self.network.pid)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unplug()
        self.network.kill()
        self.network.communicate()

    def plug_in(self):
        self.process = subprocess.Popen([*self.inside, FAKE, "-i", "127.0.0.1", "-s", "CAPTURE"])
        # The camera needs a moment before it answers.
        for _ in range(50):
            try:
                listed = subprocess.run([*self.inside, "arv-tool-0.8"], capture_output=True,
                                        text=True, timeout=10).stdout
            except FileNotFoundError:
                time.sleep(1)
                return
            if NAME in listed:
                return
            time.sleep(0.1)
        raise AssertionError("the camera does not answer")

    def unplug(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None
