#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rules of the source tree: which folder may include which, how long files and lines may be,
which code may use HAVE_CUDA, and that the rooms of kernels/ have types of different names. Each
check runs on a small tree that breaks it, then here."""
import pathlib
import re
import tempfile
import unittest

import program

FOLDERS = ("common", "kernels", "gst", "gswo", "examples", "tests", "scripts", ".ci")
CODE = {".c", ".cpp", ".cu", ".cuh", ".h", ".inc", ".py"}
HEADERS = {".cuh", ".h", ".inc"}
MOST_LINES, MOST_COLUMNS = 400, 100

# What a room of kernels/ may include in addition to itself and the public headers, kernels/*.h.
# Rooms that are not listed are operators, which must not include one another.
ROOMS = {"base": (), "gswo": (), "histogram": ("base",), "windowsums": ("base",),
         "runlengths": ("base", "histogram"), "usercode": ("base", "gswo")}
OPERATOR = ("base", "histogram", "windowsums", "runlengths", "usercode")
# Files that may be longer, with the reason. At most five.
LONG = {
    "kernels/gswo/gswo_rt.h": "installed for generated code, which includes it by this path",
    "kernels/gswo/window.h": "installed for generated code, which includes it by this path",
}


def source_files(root):
    """The files that people write, with their paths relative to the root."""
    for path in sorted(p for p in root.glob("*") if p.is_file()):
        yield path, path.name
    for folder in FOLDERS:
        for path in sorted(p for p in (root / folder).rglob("*") if p.is_file()):
            if "__pycache__" not in path.parts:
                yield path, path.relative_to(root).as_posix()


def lines_of(path):
    return path.read_text(encoding="utf-8", errors="replace").splitlines()


def is_text(path):
    """Whether a file is code, or a build or shell file."""
    if path.suffix in CODE | {".sh"} or path.name in ("meson.build", "meson_options.txt"):
        return True
    if path.suffix == ".in":
        return pathlib.Path(path.stem).suffix in CODE
    with path.open("rb") as file:
        return path.suffix == "" and re.match(rb"#!.*\b(ba)?sh\b", file.readline()) is not None


def wrong_include(name, included):
    """Why a file of kernels/ may not include this, or None."""
    if re.match(r"(gst|glib|gio|gobject)(/|-|\.h)", included):
        return "kernels/ knows nothing of GStreamer and GLib"
    parts = included.split("/")
    if parts[0] != "kernels" or len(parts) == 2:
        return None
    if name.count("/") == 1:
        return "a public header includes no private one"
    room, other = name.split("/")[1], parts[1]
    if other == room or other in ROOMS.get(room, OPERATOR):
        return None
    return f"{room} does not include {other}"


def wrong_includes(root):
    for path, name in source_files(root):
        if not name.startswith("kernels/") or path.suffix not in CODE:
            continue
        for number, line in enumerate(lines_of(path), 1):
            found = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
            why = found and wrong_include(name, found[1])
            if why:
                yield f"{name}:{number}: {found[1]}: {why}"


def long_files(root, allowed=()):
    for path, name in source_files(root):
        if path.suffix in CODE and name not in allowed:
            lines = len(lines_of(path))
            if lines > MOST_LINES:
                yield f"{name}: {lines} lines, more than {MOST_LINES}"


def long_lines(root):
    for path, name in source_files(root):
        if is_text(path):
            for number, line in enumerate(lines_of(path), 1):
                # Launch lines are left whole, so that they can be copied.
                is_launch = re.match(r"\s*(//|\*) .*(gst-launch-1\.0|gswo-cc) -?", line)
                if len(line) > MOST_COLUMNS and not is_launch:
                    yield f"{name}:{number}: {len(line)} columns, more than {MOST_COLUMNS}"


def switches(root):
    """A room without CUDA has an absent.cpp in place of its CUDA code."""
    for path, name in source_files(root):
        if name.startswith("kernels/") and path.suffix in CODE:
            for number, line in enumerate(lines_of(path), 1):
                if "HAVE_CUDA" in line:
                    yield f"{name}:{number}: HAVE_CUDA; write an absent.cpp instead"


def namesakes(root):
    """A type has the word of its room in its name if another room could have one too. kernels/gswo
    is left out: its names are those of generated code."""
    types = {}
    for path, name in source_files(root):
        room = name.rpartition("/")[0]
        if not room.startswith("kernels") or room == "kernels/gswo":
            continue
        for number, line in enumerate(lines_of(path) if path.suffix in HEADERS else (), 1):
            # Not indented: at namespace scope. Neither declarations nor specialisations match.
            found = re.match(r"(template <.*> )?(struct|class|union|enum|enum class) "
                             r"(CUDASCAN_API |alignas\(.*\) )?(\w+)( final)?( [:{].*)?$", line)
            first = found and types.setdefault(found[4], (room, f"{name}:{number}"))
            if first and first[0] != room:
                yield f"{name}:{number}: {found[4]} is also the name of a type at {first[1]}"


class Checks(unittest.TestCase):
    """Each check finds the files that break it, in an artificial tree."""

    def found(self, check, files, **more):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return [line.split(":")[0] for line in check(pathlib.Path(folder), **more)]

    def including(self, name, included):
        return self.found(wrong_includes, {name: f'// Text.\n#include "{included}"\n'})

    def test_includes(self):
        for name, included in (("kernels/base/cpu.cpp", "kernels/histogram/count.h"),
                               ("kernels/histogram/count.h", "kernels/nick/formula.h"),
                               ("kernels/windowsums/rows.inc", "kernels/histogram/count.h"),
                               ("kernels/nick/nick.cu", "kernels/equalize/rows.h"),
                               ("kernels/swofilter/rank/rank.cuh", "kernels/nick/formula.h"),
                               ("kernels/nick.h", "kernels/nick/formula.h"),
                               ("kernels/nick.h", "glib.h"),
                               ("kernels/base/cpu.cpp", "gst/gst.h")):
            self.assertEqual(self.including(name, included), [name], included)
        for name, included in (("kernels/base/cpu.cpp", "kernels/exec.h"),
                               ("kernels/nick/nick.cu", "kernels/nick/formula.h"),
                               ("kernels/nick/nick.cu", "kernels/equalize.h"),
                               ("kernels/swofilter/rank/rank.cu", "kernels/swofilter/window.h"),
                               ("kernels/nick/nick.cu", "kernels/windowsums/strip.cuh"),
                               ("kernels/nick.h", "common/plane.h"),
                               ("gst/element.h", "gst/gst.h")):
            self.assertEqual(self.including(name, included), [], included)

    def test_file_lengths(self):
        files = {"gst/a.h": "\n" * 401, "gst/b.h": "\n" * 400, "gst/c.py": "\n" * 401}
        self.assertEqual(self.found(long_files, files, allowed={"gst/c.py": "a reason"}),
                         ["gst/a.h"])

    def test_line_lengths(self):
        line, launch = "// " + "x" * 98, " * gst-launch-1.0 " + "x" * 98
        files = {"gst/a.cpp": line, "kernels/b.cu": line[:-1], "kernels/meson.build": line,
                 "docs/c.md": line, "check": "#!/usr/bin/env bash\n" + line, "LICENSE": line,
                 "tests/d.cpp.in": line, "gst/g.cpp": launch, "tests/e.txt": line,
                 "scripts/f.py": "é" * 100}
        self.assertEqual(sorted(self.found(long_lines, files)),
                         ["check", "gst/a.cpp", "kernels/meson.build", "tests/d.cpp.in"])

    def test_have_cuda(self):
        text = "#ifndef HAVE_CUDA\n#endif\n"
        files = {"kernels/nick/nick.cpp": text, "kernels/meson.build": text, "tests/a.cpp": text}
        self.assertEqual(self.found(switches, files), ["kernels/nick/nick.cpp"])

    def test_namesakes(self):
        text = "struct Rows {\n};\nstruct Only : Base {\n  struct Own {\n  };\n};\n"
        more = "struct Rows;\ntemplate <>\nstruct Rows<int> {\n};\nclass Own {\n};\n"
        files = {"kernels/nick/a.h": text, "kernels/nick/b.h": text, "kernels/gswo/c.h": text,
                 "kernels/hue/d.h": more, "kernels/hue/e.cpp": text, "tests/f.h": text,
                 "kernels/rotate/g.inc": "template <typename T>\nstruct alignas(8) Rows {\n"}
        self.assertEqual(self.found(namesakes, files), ["kernels/rotate/g.inc"])


class ThisTree(unittest.TestCase):
    root = pathlib.Path(__file__).resolve().parents[2]

    def none(self, complaints):
        self.assertEqual(list(complaints), [])

    def test_includes(self):
        self.none(wrong_includes(self.root))

    def test_file_lengths(self):
        self.none(long_files(self.root, LONG))
        self.assertLessEqual(len(LONG), 5)

    def test_line_lengths(self):
        self.none(long_lines(self.root))

    def test_have_cuda(self):
        self.none(switches(self.root))

    def test_namesakes(self):
        self.none(namesakes(self.root))

    def test_exceptions(self):
        """Each exception in LONG is needed."""
        for name in LONG:
            self.assertGreater(len(lines_of(self.root / name)), MOST_LINES, name)


if __name__ == "__main__":
    program.main()
