# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attempts at a volume in a run."""
import os

from .scan import SetAside


class Attempts:
    """Counts attempts at a volume in the destination, where they outlive a worker."""

    def __init__(self, place, volume, setup):
        self.place, self.setup = place, setup
        self.name = f"attempts/{volume.name}"
        lines = (place.read(self.name) or b"").decode().splitlines()
        self.lines = [line for line in lines if line.startswith(setup.run + " ")]

    def count(self):
        return len(self.lines)

    def summary(self):
        _, node, *reason = self.lines[-1].split(" ", 2)
        why = reason[0] if reason else "its worker was killed, or its node was lost"
        return f"{self.count()} attempts have failed, the last one on {node}: {why}"

    def note(self, reason):
        """Why the present attempt has failed."""
        self.lines[-1] += " " + " ".join(reason.split())
        self.write()

    def begin(self):
        if self.count() >= self.setup.tries:
            raise SetAside(self.summary())
        self.lines.append(f"{self.setup.run} {os.uname().nodename}")
        self.write()

    def write(self):
        self.place.write(self.name, ("\n".join(self.lines) + "\n").encode())

    def forget(self):
        self.place.remove(self.name)
