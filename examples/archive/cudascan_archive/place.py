# SPDX-License-Identifier: LGPL-2.1-or-later
"""The destination: a folder, or a URL that fsspec knows, such as s3://bucket/prefix."""
import concurrent.futures
import hashlib
import os
import re
import uuid

import fsspec
from fsspec.implementations.local import LocalFileSystem

HIDDEN = ".cudascan-scan."  # the journal of cudascan-scan, and its unfinished pages
TRANSFERS = 8  # at a time


def file_system(url):
    """The file system and the path in it. Nothing is cached: others write at the same time."""
    return fsspec.core.url_to_fs(url, use_listings_cache=False)


def is_local(system):
    return isinstance(system, LocalFileSystem)


def printable(name):
    """The name of a file as text; bytes that are not UTF-8 become \\xNN."""
    return re.sub("[\udc80-\udcff]", lambda byte: f"\\x{ord(byte[0]) - 0xdc00:02x}", name)


def sync_folder(path):
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def files_below(folder):
    """{printable name: path} of the files in a local folder and its subfolders, without those of
    cudascan-scan itself."""
    found = {}
    for path, _, names in os.walk(folder):
        for name in names:
            if not name.startswith(HIDDEN):
                file = os.path.join(path, name)
                found[printable(os.path.relpath(file, folder))] = file
    return found


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(TRANSFERS) as threads:
        return list(threads.map(function, items))


class Place:
    """Names are relative, with slashes."""

    def __init__(self, url, work=None):
        """@param work  local folder for unfinished files, which somebody else clears"""
        self.url, self.work = url, work
        self.system, self.root = file_system(url)
        self.root = self.root.rstrip("/")
        self.local = is_local(self.system)

    def path(self, name):
        return f"{self.root}/{name}"

    def read(self, name):
        """The bytes of a file, or None."""
        try:
            return self.system.cat_file(self.path(name))
        except FileNotFoundError:
            return None

    def write(self, name, data):
        """The file is there with all its bytes, or as it was."""
        path = self.path(name)
        if not self.local:
            self.system.pipe_file(path, data)
            return
        folder = os.path.dirname(path)
        os.makedirs(folder, exist_ok=True)
        unfinished = f"{self.work or folder}/.{uuid.uuid4().hex}.tmp"
        try:
            with open(unfinished, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, path)
        except BaseException:
            if os.path.exists(unfinished):
                os.unlink(unfinished)
            raise
        sync_folder(folder)

    def remove(self, name):
        if self.system.exists(self.path(name)):
            self.system.rm(self.path(name))

    def files(self, folder):
        """{name: bytes} of the files in a folder and its subfolders."""
        path = self.path(folder)
        if self.local:
            return {name: os.path.getsize(file) for name, file in files_below(path).items()}
        found = self.system.find(path, detail=True)
        return {name[len(path) + 1:]: facts["size"] for name, facts in found.items()}

    def digests(self, folder, names):
        """The SHA-256 of files in a folder, in hexadecimal."""
        path = self.path(folder)
        local = files_below(path) if self.local else None

        def digest(name):
            with (open(local[name], "rb") if local else
                  self.system.open(f"{path}/{name}", "rb")) as file:
                return digest_of(file)
        return dict(zip(names, in_parallel(digest, names)))

    def publish(self, made, folder):
        """Moves a local folder here. In a file system it appears whole; in an object store each of
        its files does."""
        path = self.path(folder)
        if self.local:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.rename(made, path)
            sync_folder(os.path.dirname(path))
            return
        in_parallel(lambda item: self.system.put_file(item[1], f"{path}/{item[0]}"),
                    files_below(made).items())

    def set_back(self, name):
        """Moves a volume's folder into `old/`, and returns its new name. Nothing is deleted."""
        for number in range(1, 1 << 16):
            old = f"old/{name}-{number}"
            if not self.system.exists(self.path(old)):
                break
        if self.local:
            os.makedirs(self.path("old"), exist_ok=True)
        self.system.mv(self.path(f"volumes/{name}"), self.path(old), recursive=True)
        return old


def digest_of(file):
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()
