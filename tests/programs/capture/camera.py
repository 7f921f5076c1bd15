# SPDX-License-Identifier: LGPL-2.1-or-later
"""A GigE Vision camera for tests. It is Aravis's fake camera on the loopback device of a separate
network namespace, so no other test and no other machine sees it."""
import os
import shutil
import subprocess
import sys
import time
import unittest

import program

NAME = "Aravis-Fake-CAPTURE"
FAKE = "arv-fake-gv-camera-0.8"
HERE = "CAMERA_IS_HERE"


class Network:
    """A command that starts with `inside` runs in this network."""

    def __init__(self):
        for tool in (FAKE, "unshare", "nsenter", "ip"):
            if not shutil.which(tool):
                raise unittest.SkipTest(f"{tool} is not installed")
        if subprocess.run(["gst-inspect-1.0", "aravissrc"], stdout=subprocess.DEVNULL).returncode:
            raise unittest.SkipTest("there is no aravissrc")
        self.process = subprocess.Popen(
            ["unshare", "--user", "--map-root-user", "--net", "sh", "-c",
             "ip link set lo up && echo up && exec sleep 300"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.process.stdout.readline() != "up\n":
            why = self.process.stderr.read().strip()
            self.close()
            raise unittest.SkipTest(f"no network of its own for the camera: {why}")
        self.inside = ["nsenter", "--preserve-credentials", "-U", "-n", "-t", str(self.process.pid)]

    def close(self):
        self.process.kill()
        self.process.communicate()


class Camera:
    """For use with `with`. A program sees the camera if its command starts with `inside`."""

    def __init__(self):
        self.process = None
        self.network = None if os.environ.get(HERE) else Network()
        self.inside = self.network.inside if self.network else []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.unplug()
        if self.network:
            self.network.close()

    def plug_in(self, *options):
        self.process = subprocess.Popen([*self.inside, FAKE, "-i", "127.0.0.1", "-s", "CAPTURE",
                                         *options])
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


def main():
    """program.main() in a network for cameras: pipelines of the test program itself see them."""
    if os.environ.get(HERE):
        program.main()
    try:
        network = Network()
    except unittest.SkipTest as reason:
        print(f"1..0 # SKIP {reason}")
        return
    try:
        command = [*network.inside, sys.executable, *sys.argv]
        sys.exit(subprocess.run(command, env={**os.environ, HERE: "1"}).returncode)
    finally:
        network.close()
