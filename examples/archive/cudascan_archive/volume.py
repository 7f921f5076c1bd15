# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one volume. The results in the destination decide what is done, nobody's memory.

Pages are made in a folder for the attempt, and the next attempt goes on there. When all are there
and their checksums hold, the record of the pages is written, then the folder moves to its place.
So a volume is done when its record agrees with its folder, at any moment and after any fault.
"""
import contextlib
import dataclasses
import datetime
import errno
import fcntl
import hashlib
import json
import os
import shlex
import shutil
import tempfile
import time

from . import records
from .attempts import Attempts
from .place import Place, files_below, sync_folder
from .scan import JOURNAL, Again, SetAside, Stop, read_journal, read_stats, version_of
from .source import Source

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


@dataclasses.dataclass(frozen=True)
class Setup:
    """What all volumes of a run have in common."""
    dest: str
    run: str  # identifies the run
    version: str  # of cudascan-scan, the same on all nodes
    program: str = "cudascan-scan"
    options: str = ""
    pdf: bool = False  # of each volume, instead of a file for each page
    backend: str = "cpu"
    cpus: int = 1
    scratch: str = ""
    tries: int = 3
    stall: float = 900
    trust_sizes: bool = False
    retry_failed: bool = False


def problem_of_node(setup):
    """Why this node can make no volumes, or ""."""
    node = os.uname().nodename
    try:
        version = version_of(setup.program)
        if Place(setup.dest).read("archive.json") is None:
            return (f"{setup.dest} on {node} is not the archive: there is no archive.json; mount "
                    "the same folder under the same path on every node")
    except Exception as error:  # those of object stores have nothing in common
        return f"{node}: {error}"
    if version != setup.version:
        return (f"cudascan-scan on {node} is version {version}, but {setup.version} is needed, "
                "so that all pages are alike")
    return ""


def scratch_of(setup, volume):
    """A folder on this machine, the same for each attempt. Throws Stop."""
    name = hashlib.sha256(f"{setup.dest} {volume.name}".encode()).hexdigest()[:16]
    if setup.scratch:
        return os.path.join(setup.scratch, name)
    root = os.path.join(tempfile.gettempdir(), f"cudascan-archive-{os.getuid()}")
    os.makedirs(root, 0o700, exist_ok=True)
    if os.path.islink(root) or os.stat(root).st_uid != os.getuid():
        raise Stop(f"{root} on {os.uname().nodename} belongs to somebody else; name a folder with "
                   "--scratch")
    return os.path.join(root, name)


@contextlib.contextmanager
def locked(path, seconds):
    """Holds a lock in a folder, which exists then. A worker that Ray has given up may still be at
    the same volume."""
    end = time.monotonic() + seconds
    while True:
        os.makedirs(path, exist_ok=True)
        try:
            lock = os.open(os.path.join(path, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            continue  # its owner has just removed the folder
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            with contextlib.suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), os.stat(os.path.join(path, "lock"))):
                    break
        except BlockingIOError:
            if time.monotonic() > end:
                os.close(lock)
                raise Again(f"another worker has been at {path} for {seconds:g} s") from None
            time.sleep(0.2)
        except OSError as error:
            if error.errno in (errno.ENOLCK, errno.ENOTSUP):
                break  # a file system without locks
            os.close(lock)
            raise
        os.close(lock)
    try:
        yield
    finally:
        os.close(lock)


def holds(place, volume, key, setup):
    """The facts of a volume if it is done and is as its record says, else None."""
    facts, rows = records.read_pages(place, volume.name)
    if facts is None or facts["key"] != key:
        return None
    if setup.retry_failed and facts["status"] != "complete":
        return None
    expected = records.files_of(rows)
    folder = f"volumes/{volume.name}"
    # Other programs may have added files, for instance pictures of the folder.
    found = place.files(folder)
    if any(found.get(name) != size for name, (size, _) in expected.items()):
        return None
    if place.local and not os.path.isdir(place.path(folder)):
        return None
    if not setup.trust_sizes:
        digests = place.digests(folder, list(expected))
        if any(digests[name] != digest for name, (_, digest) in expected.items()):
            return None
    return facts


def result(volume, status, facts=None, **more):
    """What the worker tells the driver."""
    facts = facts or {}
    return {"volume": volume.name, "status": status, "node": os.uname().nodename,
            **{name: facts.get(name, 0) for name in ("pages", "failed", "seconds", "gpu_busy")},
            "reason": facts.get("reason", ""), **more}


def make(volume, setup, program, on_page=lambda: None):
    """Makes a volume by a scan.Program unless it is done; what it returns is for the driver. The
    status:

    complete, incomplete   it is there now
    done before            an earlier run has made it, and its checksums hold
    again                  the attempt has failed, try again
    set aside              it cannot be made; its record says why
    stop                   no volume can be made, for the reason that is given
    """
    place = Place(setup.dest)
    attempts = None
    try:
        work = place.path(f"unfinished/{volume.name}") if place.local else scratch_of(setup, volume)
        place.work = work
        with locked(work, setup.stall):
            attempts = Attempts(place, volume, setup)
            outcome = Maker(place, volume, setup, program, work, attempts).make(on_page)
            attempts.forget()
            # A worker that waits for the lock has a file there, and NFS keeps one that is open.
            shutil.rmtree(work, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.rmdir(work)
        return outcome
    except Stop as error:
        return result(volume, "stop", reason=str(error))
    except SetAside as error:
        with contextlib.suppress(Exception):
            return set_aside(place, volume, setup, attempts, str(error))
        return result(volume, "again", reason=str(error))
    except Exception as error:
        return failed(place, volume, setup, attempts, error)


def failed(place, volume, setup, attempts, error):
    """What becomes of a volume after an attempt that has failed, for whatever reason: no volume
    and no hiccup of an object store may end the run."""
    known = isinstance(error, (Again, OSError))
    reason = str(error) if known else f"{type(error).__name__}: {error}"
    if getattr(error, "errno", None) in FULL:
        return result(volume, "stop", reason=f"{os.uname().nodename}: {error}", full=True)
    if attempts is not None and attempts.count() > 0:  # else it had not begun
        with contextlib.suppress(Exception):
            attempts.note(reason)
        if attempts.count() >= setup.tries:
            with contextlib.suppress(Exception):
                return set_aside(place, volume, setup, attempts, attempts.summary())
    return result(volume, "again", reason=reason)


def set_aside(place, volume, setup, attempts, reason):
    facts = {"volume": volume.name, "status": "set aside", "reason": reason,
             "input": volume.input, "options": volume.options, "version": setup.version,
             "attempts": attempts.count(), "node": os.uname().nodename, "finished": now()}
    records.write_volume(place, facts)
    return result(volume, "set aside", facts)


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


class Maker:
    """One attempt, in a folder that is locked."""

    def __init__(self, place, volume, setup, program, work, attempts):
        self.place, self.volume, self.setup = place, volume, setup
        self.program, self.work, self.attempts = program, work, attempts
        self.made = os.path.join(work, "made")
        self.pdf = f"{volume.name}.pdf" if setup.pdf else ""  # in that folder
        self.journal = f"{work}/journal" if self.pdf else f"{self.made}/{JOURNAL}"
        self.begun = time.monotonic()

    def make(self, on_page):
        volume, setup, place = self.volume, self.setup, self.place
        try:
            source = Source(volume.input)
        except OSError:
            self.attempts.begin()  # so that it counts
            raise
        words = [*shlex.split(setup.options), *shlex.split(volume.options)]
        state = source.state()
        what = [volume.input, words, setup.version, state, *(["pdf"] if setup.pdf else [])]
        key = hashlib.sha256(json.dumps(what).encode()).hexdigest()
        if facts := holds(place, volume, key, setup):
            records.write_volume(place, facts)  # its worker may have been killed before that
            # It may have been killed before it said so, too.
            is_of_this_run = facts.get("run") == setup.run
            return result(volume, facts["status"] if is_of_this_run else "done before", facts)
        self.attempts.begin()
        self.prepare(key)
        stats, base = self.scan(source, words, on_page)
        if Source(volume.input).state() != state:
            raise Again("a file of the input has changed, come or gone meanwhile")
        rows, facts = self.rows(stats, base), self.facts(stats, source, key)
        self.publish(rows, facts)
        return result(volume, facts["status"], facts)

    def prepare(self, key):
        """Keeps the pages of earlier attempts if they are of the same inputs and options."""
        path = os.path.join(self.work, "key")
        with contextlib.suppress(FileNotFoundError), open(path, encoding="ascii") as file:
            if file.read() == key:
                return
        for name in ("made", "input"):
            if os.path.exists(os.path.join(self.work, name)):
                shutil.rmtree(os.path.join(self.work, name))
        with open(path, "w", encoding="ascii") as file:
            file.write(key)

    def scan(self, source, words, on_page):
        """Makes the pages; returns the statistics, and the folder that inputs are relative to."""
        setup = self.setup
        fetched = os.path.join(scratch_of(setup, self.volume), "input")
        if not source.local:
            os.makedirs(fetched, exist_ok=True)
        inputs, base = source.fetch(fetched)
        stats_file = os.path.join(self.work, "stats")
        list_file = os.path.join(self.work, "inputs")
        command = [*words, "--resume", f"--backend={setup.backend}", f"--jobs={setup.cpus}",
                   f"--output={self.made}/{self.pdf}", f"--stats={stats_file}",
                   f"--files-from={list_file}", "--null"]
        with open(list_file, "wb") as file:
            file.write(b"".join(os.fsencode(name) + b"\0" for name in inputs))
        with contextlib.suppress(FileNotFoundError):
            os.unlink(stats_file)
        while True:
            if self.pdf:
                self.keep_journal()
            status, said = self.program.run(command, setup.stall, on_page)
            # An attempt was killed after its PDF was complete: nobody knows what is missing in it.
            if not self.pdf or status != 0 or os.path.exists(stats_file):
                break
        if not source.local:
            shutil.rmtree(scratch_of(setup, self.volume) if self.place.local else fetched)
        if status == 4:
            raise OSError(errno.ENOSPC, said)
        if status == 2:
            raise SetAside(said)
        if status not in (0, 1):
            raise Again(f"cudascan-scan was ended by signal {-status}" if status < 0 else
                        said or f"cudascan-scan ended with status {status}")
        return read_stats(stats_file), base

    def keep_journal(self):
        """Gives the journal a second name: cudascan-scan removes the folder of a PDF's pages when
        the PDF is complete. Begins again if there is a PDF, or nothing to go on with."""
        path = f"{self.made}/{self.pdf}.pages/{JOURNAL}"
        with contextlib.suppress(FileNotFoundError):
            if os.path.samefile(path, self.journal) and not os.path.lexists(
                    f"{self.made}/{self.pdf}"):
                return
        shutil.rmtree(self.made, ignore_errors=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.journal)
        os.makedirs(os.path.dirname(path))
        with open(path, "xb"):
            os.link(path, self.journal)

    def rows(self, stats, base):
        """The pages, with sizes and checksums of what is on the disk."""
        files = files_below(self.made)
        digests = Place(self.work).digests("made", list(files))
        folder = os.path.join(self.made, f"{self.pdf}.pages" if self.pdf else "")
        notes = {os.path.relpath(page["output"], folder): page
                 for page in stats["page_list"] if page.get("output")}
        rows, seen = [], set()
        for row in read_journal(self.journal, base):
            note = dict(notes.get(row["output"], {}))
            if self.pdf:
                self.move_to_pdf(row, digests)
            for file in (row, *row["also"]):
                name = file["output"]
                seen.add(name)
                if name and digests.get(name) != file["sha256"]:
                    raise self.damaged(name)
                file["bytes"] = os.path.getsize(files[name]) if name else 0
            row["problem"] = note.get("damage", note.get("text_problem", ""))
            for known in ("input", "output", "also", "blank", "input_sha256", "output_sha256"):
                note.pop(known, None)
            row["measured"] = json.dumps(note) if note else None
            rows.append({"volume": self.volume.name, **row})
        for name in files.keys() - seen:
            raise self.damaged(name)
        for page in stats["page_list"]:
            if "problem" in page:
                rows.append({"volume": self.volume.name, "output": "", "part": "", "also": [],
                             "input": os.path.relpath(page["input"], base),
                             "problem": page["problem"]})
        return rows

    def move_to_pdf(self, row, digests):
        """The file of a page is in the PDF now."""
        if row["output"]:
            row["output"], row["sha256"] = self.pdf, digests.get(self.pdf, "none")
        for file in row["also"]:
            file["output"] = f"{self.pdf}.also/{file['output']}"

    def damaged(self, name):
        """The disk does not have what was written: begin again."""
        shutil.rmtree(self.made)
        return Again(f"{name} on the disk is not what cudascan-scan has written")

    def facts(self, stats, source, key):
        failed, pages = stats["failed"], stats["pages"] + stats["skipped"]
        return {"volume": self.volume.name, "status": "incomplete" if failed else "complete",
                "reason": "", "input": self.volume.input, "options": self.volume.options,
                "settings": stats["settings"], "version": stats["version"], "pages": pages,
                "failed": failed, "salvaged": stats["salvaged"],
                "input_bytes": source.bytes(), "attempts": self.attempts.count(),
                "seconds": time.monotonic() - self.begun, "backend": stats["backend"],
                "gpu_busy": stats["gpu_busy"], "node": os.uname().nodename, "finished": now(),
                "run": self.setup.run, "key": key}

    def publish(self, rows, facts):
        place, name = self.place, self.volume.name
        files = records.files_of(rows)
        facts["blank"] = sum(bool(row.get("blank")) for row in rows)
        facts["bytes"] = sum(size for size, _ in files.values())
        if facts["pages"] == 0:
            raise Again(next((row["problem"] for row in rows), "there are no pages"))
        earlier = place.files(f"volumes/{name}")
        if (os.path.lexists(place.path(f"volumes/{name}")) if place.local
                else earlier.keys() - files.keys()):
            facts["reason"] = ("what was there before was not as recorded, or of another input or "
                               f"options, and is in {place.set_back(name)} now")
        if place.local:
            sync_folder(self.made)
            records.write_pages(place, facts, rows)
            place.publish(self.made, f"volumes/{name}")
        else:
            place.publish(self.made, f"volumes/{name}")
            records.write_pages(place, facts, rows)
        records.write_volume(place, facts)
