# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command line."""
import argparse
import json
import os
import signal
import sys
import time
import uuid

from . import manifest, scan
from .manifest import BadInput
from .place import Place
from .volume import Setup

ALL_DONE, SOME_LEFT_OUT, WRONG_USAGE, NOTHING_DONE, DISK_FULL = range(5)
FIRST = 3  # volumes from which the share of a GPU is measured


def parse(words):
    parser = argparse.ArgumentParser(
        prog="cudascan-archive",
        description="Runs cudascan-scan over the volumes of an archive, on a Ray cluster.",
        epilog="Exit status: 0 all pages are there; 1 some failed, or volumes were set aside; 2 "
        "wrong usage; 3 nothing could be done; 4 the disk is full; 130, 143 ended by a signal.")
    add = parser.add_argument
    add("manifest", help="CSV or Parquet, a path or a URL: columns volume, input; and, if wanted, "
        "options, pages")
    add("-o", "--output", required=True, metavar="DEST", help="folder, or URL such as s3://...")
    add("--resume", action="store_true", help="go on in DEST; what is done is not done again")
    add("--retry-failed", action="store_true",
        help="with --resume: volumes with failed pages are made again")
    add("--trust-sizes", action="store_true",
        help="with --resume: compare sizes of finished files, not their SHA-256")
    add("--options", default="", metavar="WORDS", help="for cudascan-scan, in one argument: "
        "--options='--crop=page --also=gray.tif'")
    add("--pdf", action="store_true", help="a PDF of each volume, instead of a file for each page")
    add("--address", default=os.environ.get("RAY_ADDRESS", ""),
        help="of the Ray cluster, or auto; without it one is started on this machine")
    add("--workers", type=int, default=0, help="at most this many; as many as fit")
    add("--cpus", type=int, default=0, help="cores for each worker; 4, or those that there are")
    add("--backend", choices=("auto", "cuda", "cpu"), default="auto")
    add("--gpu-share", default="auto", metavar="SHARE", help="of a GPU for each worker, above 0 "
        f"to 1; auto = measured on the first {FIRST} volumes")
    add("--tries", type=int, default=3, help="attempts at a volume; 3")
    add("--stall", type=float, default=900, metavar="SECONDS",
        help="end an attempt that finishes no page for this long; 900")
    add("--scratch", default="", metavar="DIR", help="folder on each node for volumes that come "
        "from or go to a URL; a folder in /tmp")
    add("--program", default="cudascan-scan", help="cudascan-scan on each node")
    add("-q", "--quiet", action="store_true", help="print only failures and the summary")
    options = parser.parse_args(words)
    for name, least in (("workers", 0), ("cpus", 0), ("tries", 1), ("stall", 1)):
        if getattr(options, name) < least:
            raise BadInput(f"--{name}={getattr(options, name)}: it has to be {least} or more")
    if options.gpu_share != "auto":
        try:
            options.gpu_share = float(options.gpu_share)
        except ValueError:
            options.gpu_share = 0
        if not 0 < options.gpu_share <= 1:
            raise BadInput("--gpu-share has to be auto, or above 0 and at most 1")
    for name in ("retry_failed", "trust_sizes"):
        if getattr(options, name) and not options.resume:
            raise BadInput(f"--{name.replace('_', '-')} is for --resume")
    return options


def check_options(options, volumes):
    """Lets cudascan-scan itself judge the options of the first volumes."""
    manifest.check_options(options.options, "--options", options.pdf)
    for words in sorted({volume.options for volume in volumes})[:100]:
        all_words = manifest.check_options(f"{options.options} {words}", "options", options.pdf)
        if wrong := scan.wrong_usage(options.program, all_words, options.pdf):
            raise BadInput(f"options {' '.join(all_words)!r}: {wrong}")


def open_archive(options, version):
    """Notes in DEST what its pages have in common, or compares. Throws BadInput."""
    place = Place(options.output)
    facts = {"version": version, "options": options.options, "pdf": options.pdf}
    noted = place.read("archive.json")
    if noted is None:
        if place.files("volumes"):
            raise BadInput(f"--output={options.output}: there is a folder volumes, but not from "
                           "this program; name another folder")
        place.write("archive.json", json.dumps(facts).encode())
        return
    if not options.resume:
        raise BadInput(f"--output={options.output}: there is an archive already; --resume goes on "
                       "with it, or name another folder")
    noted = {"pdf": False, **json.loads(noted)}
    for name, remedy in (("version", "install that version, or name another folder"),
                         ("options", "give the same --options, or name another folder"),
                         ("pdf", "give --pdf as at first, or name another folder")):
        if noted[name] != facts[name]:
            raise BadInput(f"--output={options.output} was begun with {name} {noted[name]!r}, not "
                           f"{facts[name]!r}: {remedy}, so that all pages are alike")


def duration(seconds):
    seconds = round(seconds)
    return f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"


class Progress:
    """Counts outcomes, and says how it goes: on a terminal in one line, else a line a volume."""

    def __init__(self, volumes, quiet):
        self.weights = {volume.name: volume.pages or 1 for volume in volumes}
        self.left = sum(self.weights.values())
        self.all, self.ready, self.worked = len(volumes), 0, 0
        self.count = dict.fromkeys(("complete", "incomplete", "done before", "set aside"), 0)
        self.pages = self.failed = 0
        self.begin = time.monotonic()
        self.quiet, self.terminal = quiet, sys.stderr.isatty()

    def say(self, text):
        print(("\r\033[K" if self.terminal else "") + text, file=sys.stderr, flush=True)

    def rate(self):
        return self.pages / max(time.monotonic() - self.begin, 1e-3)

    def time_left(self):
        if not self.worked:
            return "?"
        return duration(self.left * (time.monotonic() - self.begin) / self.worked)

    def add(self, outcome):
        """An outcome that is final."""
        status, weight = outcome["status"], self.weights[outcome["volume"]]
        self.count[status] += 1
        self.ready += 1
        self.left -= weight
        if status != "done before":
            self.worked += weight
            self.pages += outcome["pages"]
        self.failed += outcome["failed"]
        line = (f"{self.ready}/{self.all} volumes  {self.pages} pages  {self.rate():.1f}/s  "
                f"{self.failed} failed  {self.time_left()} left")
        if outcome["reason"]:
            self.say(f"{outcome['volume']}: {status}: {outcome['reason']}")
        elif outcome["failed"] and status != "done before":
            self.say(f"{outcome['volume']}: {outcome['failed']} pages failed")
        if self.quiet:
            return
        if self.terminal:
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)
        else:
            self.say(f"{line}: {outcome['volume']} {status} on {outcome['node']}")

    def summary(self):
        counts = ", ".join(f"{number} {status}" for status, number in self.count.items() if number)
        self.say(f"{self.pages} pages in {duration(time.monotonic() - self.begin)}, "
                 f"{self.rate():.2f} pages/s; volumes: {counts or 'none'}; "
                 f"{self.failed} pages failed")
        return ALL_DONE if not self.failed and not self.count["set aside"] else SOME_LEFT_OUT


class Run:
    def __init__(self, options, volumes, setup):
        from . import cluster  # Ray takes seconds to load
        self.cluster, self.options, self.setup = cluster, options, setup
        self.progress = Progress(volumes, options.quiet)
        self.again = {}

    def round(self, volumes, share):
        """Tries each volume once. Returns the outcomes; those to try again are in `again`."""
        by_name = {volume.name: volume for volume in volumes}
        workers = self.options.workers or max(1, self.cluster.room(self.setup.cpus, share))
        found = []
        for outcome in self.cluster.outcomes(volumes, self.setup, workers, share):
            found.append(outcome)
            if outcome["status"] == "stop":
                raise (DiskFull if outcome.get("full") else scan.Stop)(outcome["reason"])
            if outcome["status"] == "again":
                self.progress.say(f"{outcome['volume']}: {outcome['reason']} on "
                                  f"{outcome['node']}; it is tried again later")
                self.again[by_name[outcome["volume"]]] = outcome["reason"]
            else:
                self.progress.add(outcome)
        return found

    def measured_share(self, first):
        """Gives whole GPUs to the first volumes, and measures how busy they are."""
        found = [outcome["gpu_busy"] for outcome in self.round(first, 1)
                 if outcome["status"] in ("complete", "incomplete")]
        cores = self.cluster.most_cores() // max(1, self.cluster.gpus() // len(
            [1 for node in self.cluster.ray.nodes() if node["Resources"].get("GPU")]))
        share = self.cluster.share_of(max(found, default=1), cores, self.setup.cpus)
        self.progress.say(f"a GPU is busy for {max(found, default=1):.0%} of the time with one "
                          f"worker: --gpu-share={share:.3g} from now on")
        return share

    def all(self, volumes):
        share = 0
        if self.setup.backend == "cuda":
            share = self.options.gpu_share
            if share == "auto":
                share = self.measured_share(volumes[:FIRST])
                volumes = volumes[FIRST:]
        for _ in range(self.setup.tries + 1):
            if volumes:
                self.round(volumes, share)
            reasons, self.again = self.again, {}
            volumes = list(reasons)
        for volume, reason in reasons.items():  # not even a record could be written
            self.progress.add({"volume": volume.name, "status": "set aside", "pages": 0,
                               "failed": 0, "node": "", "reason": reason})
        return self.progress.summary()


class DiskFull(scan.Stop):
    """As a worker says."""


def backend_of(options, gpus):
    if options.backend == "cuda" and not gpus:
        raise BadInput("--backend=cuda: the cluster has no GPU; --backend=cpu gives the same pages")
    return options.backend if options.backend != "auto" else "cuda" if gpus else "cpu"


def archive(words):
    options = parse(words)
    volumes = manifest.read(options.manifest, options.pdf)
    version = scan.version_of(options.program)
    check_options(options, volumes)
    try:
        open_archive(options, version)
    except BadInput:
        raise
    except Exception as error:  # those of object stores have nothing in common
        raise scan.Stop(f"--output={options.output}: {error}") from None
    from . import cluster
    try:
        cluster.connect(options.address)
        catch_signals()  # Ray has replaced the handlers
    except (ConnectionError, OSError, ValueError, RuntimeError) as error:
        raise scan.Stop(f"--address={options.address}: no Ray cluster answers: {error}; "
                        "if it asks for a token, set RAY_AUTH_MODE=token") from None
    cores = cluster.most_cores()
    if options.cpus > cores:
        raise BadInput(f"--cpus={options.cpus}: the largest node has {cores}")
    setup = Setup(
        dest=options.output if "://" in options.output else os.path.abspath(options.output),
        run=uuid.uuid4().hex[:12], version=version, program=options.program,
        options=options.options, pdf=options.pdf, backend=backend_of(options, cluster.gpus()),
        cpus=options.cpus or min(4, cores), scratch=options.scratch, tries=options.tries,
        stall=options.stall, trust_sizes=options.trust_sizes, retry_failed=options.retry_failed)
    run = Run(options, volumes, setup)
    try:
        return run.all(volumes)
    except scan.Stop as stop:
        run.progress.say(f"cudascan-archive: {stop}; the run ends here, and --resume goes on when "
                         "that is put right")
        run.progress.summary()
        return DISK_FULL if isinstance(stop, DiskFull) else NOTHING_DONE
    except Ended:
        run.progress.say("ended by a signal; --resume goes on")
        run.progress.summary()
        raise


class Ended(BaseException):
    """By a signal, which is the argument."""


def catch_signals():
    def end(number, _):
        raise Ended(number)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def main():
    catch_signals()
    try:
        status = archive(sys.argv[1:])
    except BadInput as error:
        print(f"cudascan-archive: {error}", file=sys.stderr)
        status = WRONG_USAGE
    except scan.Stop as error:
        print(f"cudascan-archive: {error}", file=sys.stderr)
        status = NOTHING_DONE
    except Ended as ended:
        status = 128 + ended.args[0]
    sys.stderr.flush()
    sys.exit(status)


if __name__ == "__main__":
    main()
