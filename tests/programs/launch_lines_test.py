# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every launch line that people may type runs: those of README.md and docs/, of the elements' own
documentation in gst/, of examples/gswo and of manual pages.

Each block of commands is a shell script, run in a folder with the files that it names, in the
environment that the pages tell to use. launch_exchange.py replaces what only some machines have.
"""
import os
import pathlib
import re
import shlex
import shutil
import sys
import tempfile
import unittest

import launch_exchange
import program

ROOT = pathlib.Path(os.environ["SOURCE_ROOT"])
HERE = pathlib.Path(__file__).resolve().parent
# Others run their lines, with pictures that suit them: tests, and scripts/check_tutorial.py.
OWN_TESTS = {"docs/gallery.md", "docs/granulometry.md", "docs/tutorial.md"}
LINE = re.compile(r"^ *(?:[A-Z_]+=(?:\"[^\"]*\"|\S)* )*gst-launch-1\.0 .*!", re.M)
OURS = {"cuda" + name for name in os.environ["OPERATORS"].split()}
VIDEO = {"qtdemux", "h264parse", "avdec_h264"}
A_FILTER = "float filter(auto p) { return p.max() - p.min(); }\n"


class Block:
    """Commands that belong together, with the page that they are from."""

    def __init__(self, page, line, text):
        self.page, self.text, self.number = page, text, line
        self.name = f"{page.relative_to(ROOT)}:{line}"

    def words(self):
        """The words of each of its launch lines."""
        text = self.text.replace("\\\n", " ")
        for line in re.findall(r"gst-launch-1\.0 (.*)$", text, re.M):
            yield shlex.split(re.sub(r"\s\|$", "", line))

    def elements(self):
        return {part[0] for words in self.words() for part in launch_exchange.segments(
            [word for word in words if not word.startswith("-")]) if "/" not in part[0]}

    def files(self, element, prop="location"):
        """The files that an element reads or writes."""
        return [word.split("=", 1)[1] for words in self.words()
                for part in launch_exchange.segments(words) if element in part
                for word in part if word.startswith(prop + "=")]


def code_of(page):
    """The lines of a page that are code, as (number, text); others are empty."""
    lines = page.read_text(encoding="utf-8").split("\n")
    if page.suffix == ".md":
        fenced = False
        for number, line in enumerate(lines, 1):
            fence = line.strip().startswith("```")
            fenced ^= fence
            indented = line.startswith("    ") and not fenced
            yield number, line[4:] if indented else line if fenced and not fence else ""
    else:
        for number, line in enumerate(lines, 1):
            found = re.match(r"(?: \* |//     |)([A-Z_]+=.*|gst-launch-1\.0 .*)$", line)
            yield number, found[1] if found else ""


def blocks():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "docs/man").glob("*.1"),
             *(ROOT / "gst").glob("*.cpp"), *(ROOT / "examples").rglob("*.md"),
             *(ROOT / "examples/gswo").rglob("*.cpp")]
    for page in sorted(pages):
        first, text = 0, ""
        for number, line in [*code_of(page), (0, "")]:
            if line.strip():
                first, text = first or number, text + line + "\n"
            elif text:
                # Dots stand for the rest of a line.
                if LINE.search(text.replace("\\\n", " ")) and "! ..." not in text:
                    yield Block(page, first, text)
                first, text = 0, ""


ALL = list(blocks())


def factories():
    """All elements that the lines name, and those that take their places."""
    names = {name for block in ALL for name in block.elements()}
    return names | VIDEO | set(launch_exchange.ON_CPU.values()) | {"jpegenc", "videotestsrc"}


def is_installed(name):
    # Without a version it asks for GStreamer's own.
    return program.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0",
                        name]).returncode == 0


class LaunchLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.launch = shutil.which("gst-launch-1.0")
        if not cls.launch:
            raise unittest.SkipTest("gst-launch-1.0 is not installed")
        cls.missing = {name for name in factories() if not is_installed(name)}
        cls.add_program("gst-launch-1.0", [sys.executable, HERE / "launch_exchange.py"], [])
        # Filters need not be fast here. Most of the time would go into compiling them.
        compiler = shutil.which("c++")
        if compiler:
            cls.add_program("c++", [compiler], ["-O0"])
        cls.environment = {"PATH": f"{cls.folder}/bin:{os.environ['PATH']}", "LAUNCH": cls.launch,
                           "MISSING": " ".join(cls.missing),
                           "XDG_CACHE_HOME": str(cls.folder / "cache")}
        cls.made = set()
        # Copies: lines may write where they read.
        shutil.copytree(ROOT / "examples/gswo", cls.folder / "examples/gswo")
        cls.make_inputs()

    @classmethod
    def add_program(cls, name, before, after):
        """Puts a program in front of those in PATH that runs another one, with more arguments."""
        path = cls.folder / "bin" / name
        path.parent.mkdir(exist_ok=True)
        before, after = (" ".join(shlex.quote(str(word)) for word in words)
                         for words in (before, after))
        path.write_text(f'#!/bin/sh\nexec {before} "$@" {after}\n')
        path.chmod(0o755)

    @classmethod
    def make(cls, name, line):
        """Makes a file by a launch line, if its elements are installed."""
        path = cls.folder / name
        result = program.run([cls.launch, "-q", *shlex.split(line), "!", "filesink",
                              f"location={path}"])
        return path if result.returncode == 0 and path.exists() and path.stat().st_size else None

    @classmethod
    def make_inputs(cls):
        picture = "videotestsrc num-buffers=1 ! video/x-raw,width=320,height=240 ! videoconvert !"
        video = "videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=1280,height=720 !"
        # Readers have scans of all kinds; the lines take turns.
        pngs = [cls.make(kind + ".png", f"{picture} video/x-raw,format={kind} ! pngenc")
                for kind in ("RGB", "GRAY8", "RGBA", "GRAY16_BE")]
        cls.inputs = {".png": pngs, ".jpg": [cls.make("picture.jpg", picture + " jpegenc")],
                      ".mp4": [cls.make("video.mp4", video + " x264enc ! h264parse ! mp4mux")]}

    def place_inputs(self, block, folder):
        """Puts the files that a block reads into its folder, but for those that an earlier line of
        the page has made."""
        names = [name for name in block.files("filesrc") if folder / name not in self.made]
        for pattern in block.files("multifilesrc"):
            # As scanners and programs number pages.
            names += [pattern % number for number in (1, 2, 3)]
        for name in names:
            sources = self.inputs.get(pathlib.Path(name).suffix)
            self.assertTrue(sources, f"{name}: add such a file to make_inputs()")
            source = sources[block.number % len(sources)]
            if not source:
                self.skipTest(f"{name} cannot be made: an encoder is not installed")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, folder / name)
        page = block.page.read_text(encoding="utf-8")
        for name in block.files("cudaswofilter", "source"):
            if not (folder / name).exists():
                shown = re.search(rf"`{re.escape(name)}`:\n\n```cpp\n(.*?)```", page, re.S)
                (folder / name).write_text(shown[1] if shown else A_FILTER)
            if "#pragma" in (folder / name).read_text() and os.environ["HAVE_GSWO"] != "yes":
                self.skipTest("gswo-cc is not part of this build")

    def run_block(self, block):
        needed = {part[0] for words in block.words() for part in launch_exchange.segments(
            launch_exchange.exchange(words, self.missing))}
        if any(name.endswith(".mp4") for name in block.files("filesrc")):
            needed |= VIDEO  # which decodebin looks for
        missing = needed & self.missing
        self.assertFalse(missing & OURS, "the plugin is not found")
        if missing:
            self.skipTest("not installed: " + ", ".join(sorted(missing)))
        folder = self.folder / str(block.page.relative_to(ROOT)).replace("/", "-")
        if not folder.exists():
            folder.mkdir()
            (folder / "examples").symlink_to(self.folder / "examples")
        self.place_inputs(block, folder)
        outputs = [folder / name for name in block.files("filesink")]
        for path in outputs:
            path.unlink(missing_ok=True)
        result = program.run(["bash", "-eo", "pipefail", "-c", block.text], cwd=folder,
                             env=self.environment)
        self.assertEqual(result.returncode, 0, block.text + result.stderr + result.stdout)
        self.assertNotIn("WARNING", result.stderr)
        self.assertNotIn("CRITICAL", result.stderr)
        self.made.update(outputs)
        for path in outputs:
            self.assertTrue(path.exists() and path.stat().st_size > 0, f"{path.name} is empty")
        for words in block.words():
            if "-m" in words and "report=message" in words and "sed" not in block.text:
                self.assertRegex(result.stdout, r"\(element\): cuda[a-z]+, ")

    def test_lines_run(self):
        self.assertGreater(len(ALL), 90)
        for block in ALL:
            if str(block.page.relative_to(ROOT)) in OWN_TESTS:
                continue
            with self.subTest(block.name):
                self.run_block(block)

    def test_the_pages_name_the_packages_of_all_elements(self):
        page = (ROOT / "docs/build.md").read_text(encoding="utf-8")
        table = page.partition("## Packages of launch lines")[2].partition("\n## ")[0]
        cells = [row.split("|")[3] for row in table.split("\n") if row.startswith("| `")]
        named = {name for cell in cells for names in re.findall(r"`(.*?)`", cell)
                 for name in names.split()}
        used = {name for block in ALL for name in block.elements()}
        self.assertEqual(used - OURS - named, set())


if __name__ == "__main__":
    program.main()
