# SPDX-License-Identifier: LGPL-2.1-or-later
"""The input of a volume: a folder, a file, or a glob, at a path or a URL."""
import glob
import hashlib
import os

from . import place


class Source:
    """Lists the files at once. Throws OSError."""

    def __init__(self, url):
        self.url = url
        self.system, self.path = place.file_system(url)
        self.local = place.is_local(self.system)
        self.is_glob = any(sign in self.path for sign in "*?[")
        if not self.is_glob and not self.system.exists(self.path):
            raise FileNotFoundError(f"{url}: there is no such file or folder")
        self.files = self.listed()  # {path: (bytes, time or version)}
        if not self.files:
            raise FileNotFoundError(f"{url}: there are no files")

    def listed(self):
        if self.local:
            return {path: self.facts(path) for path in self.local_files()}
        found = (self.system.glob(self.path, detail=True) if self.is_glob
                 else self.system.find(self.path, detail=True))
        files = {path: facts for path, facts in sorted(found.items()) if facts["type"] == "file"}
        self.times = {path: facts["LastModified"].timestamp() for path, facts in files.items()
                      if hasattr(facts.get("LastModified"), "timestamp")}
        return {path: (facts["size"], str(facts.get("ETag") or facts.get("LastModified") or
                                          facts.get("mtime") or ""))
                for path, facts in files.items()}

    def local_files(self):
        if self.is_glob:
            return sorted(path for path in glob.glob(self.path, recursive=True)
                          if os.path.isfile(path))
        if os.path.isdir(self.path):
            return sorted(place.files_below(self.path).values())
        return [self.path]

    @staticmethod
    def facts(path):
        status = os.stat(path)
        return status.st_size, status.st_mtime_ns

    def state(self):
        """Differs when a file was added, removed or written."""
        text = repr([(place.printable(path), *facts) for path, facts in self.files.items()])
        return hashlib.sha256(text.encode()).hexdigest()

    def bytes(self):
        return sum(size for size, _ in self.files.values())

    def fetch(self, folder):
        """Where the files are on this machine: what cudascan-scan is to read, and the folder that
        their names are relative to. Files of a URL are copied into `folder`; each has its time
        there, which a PDF says, or one that follows from its version, so that cudascan-scan knows
        it again."""
        if self.local:
            base = self.path if os.path.isdir(self.path) else os.path.dirname(self.path)
            while any(sign in base for sign in "*?["):
                base = os.path.dirname(base)
            return ([*self.files] if self.is_glob else [self.path]), base
        base = os.path.dirname(self.path) if self.path in self.files else self.path
        while any(sign in base for sign in "*?["):
            base = os.path.dirname(base)

        def copy(item):
            path, (size, version) = item
            target = os.path.join(folder, os.path.relpath(path, base))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            self.system.get_file(path, target)
            if os.path.getsize(target) != size:
                raise OSError(f"{path}: {os.path.getsize(target)} of {size} bytes have come")
            time = self.times.get(path, int(hashlib.sha256(version.encode()).hexdigest()[:7], 16))
            os.utime(target, (time, time))
            return target
        targets = place.in_parallel(copy, self.files.items())
        return (targets if self.is_glob else
                targets if self.path in self.files else [folder]), folder
