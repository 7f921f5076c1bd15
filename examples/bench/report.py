#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes two self-contained pages of the results of cudascan-bench, cudascan-pipeline-bench and
gswo_figures.py, readable without a network, in light and dark: one for visitors, with plots, and
one with all rows.

Without files it runs the two benchmarks, which it finds in its own folder, in the build folder or
in PATH. It also runs python_peers.py with the python3 of PATH, for CuPy, cuCIM and CV-CUDA if that
has them. With files it only reads results of another machine, which needs no matplotlib.

    cudascan-bench --json kernels.json              there
    cudascan-bench-report --kernels kernels.json    here

Exit status: 0, the pages are written and complete; 1, they are written and say what is missing
because a benchmark was not found or failed; 2, nothing is written: wrong options, or a file is
missing or has the wrong content.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # when installed, its folder belongs to the package manager
HERE = pathlib.Path(__file__).resolve().parent
# In the source tree everything is in this folder.
DATA = HERE if (HERE / "report_page").is_dir() else HERE.parent / "share" / "gst-cudascan"
sys.path.insert(0, str(DATA))
from report_page.results import Results, Unusable  # noqa: E402

PROGRAMS = {"kernels": "cudascan-bench", "pipelines": "cudascan-pipeline-bench"}


def parse():
    parser = argparse.ArgumentParser(prog="cudascan-bench-report", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for kind, program in (("kernels", "cudascan-bench"), ("pipelines", "cudascan-pipeline-bench"),
                          ("gswo", "gswo_figures.py")):
        parser.add_argument(f"--{kind}", metavar="FILE", type=pathlib.Path, action="append",
                            default=[],
                            help=f"what `{program} --json FILE` wrote; may be given several times")
    parser.add_argument("--output", "-o", metavar="FILE", type=pathlib.Path,
                        default=pathlib.Path("cudascan-bench.html"),
                        help="the page for visitors (default cudascan-bench.html); all rows and "
                             "the goals go to a page next to it, NAME-all.html")
    parser.add_argument("--title", default="gst-cudascan: benchmark")
    parser.add_argument("--archive", metavar="FILE", type=pathlib.Path,
                        help="a tar archive with such files, read before the others; the page "
                             "links to it as a file in its own folder")
    parser.add_argument("--quick", action="store_true", help="run the benchmarks with --quick")
    parser.add_argument("--build", metavar="FOLDER", type=pathlib.Path,
                        help="where the benchmarks were built")
    return parser.parse_args()


def find_program(name, build):
    """Path of a benchmark, or None."""
    folders = [build] if build else [HERE, *(p / "build" for p in HERE.parents),
                                     pathlib.Path("build")]
    for folder in folders:
        for path in (folder / name, folder / "examples" / "bench" / name):
            if path.is_file():
                return path
    return None if build else shutil.which(name)


def with_plugin(program):
    """The environment in which a benchmark of a build folder finds the elements of the same
    build."""
    for folder in program.parents:
        if (folder / "gst" / "libgstcudascan.so").is_file():
            folders = [str(folder / "gst"), os.environ.get("GST_PLUGIN_PATH", "")]
            return {**os.environ, "GST_PLUGIN_PATH": ":".join(filter(None, folders))}
    return None


def run(command, name, kind, results, optional=False):
    """Runs a benchmark and reads its results; the page says what went wrong.
    @param optional  do not mention it if it measured nothing"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / f"{pathlib.Path(name).stem}.json"
        print(f"runs {' '.join(command)}", file=sys.stderr, flush=True)
        done = subprocess.run([*command, "--json", str(path)], stdin=subprocess.DEVNULL,
                              stdout=sys.stderr,
                              env=with_plugin(pathlib.Path(command[0])), check=False)
        # Failed rows are in the file and on the page; without a file there is nothing to show.
        if not path.exists():
            results.lack(f"{name} ended with status {done.returncode} and wrote no results")
            return
        if done.returncode:
            results.lack(f"{name} ended with status {done.returncode}; its results are shown")
        try:
            results.read(kind, path, optional)
        except Unusable as error:
            results.lack(f"{name} ended with status {done.returncode}: {error}")


def run_benchmarks(arguments, results):
    """Runs the benchmarks that are found; the page names those that are missing or fail."""
    for kind, name in PROGRAMS.items():
        program = find_program(name, arguments.build)
        if program:
            run([str(program), *(["--quick"] if arguments.quick else [])], name, kind, results)
        else:
            results.lack(f"{name} was not found: build it, put it into PATH, or give its results "
                         f"with --{kind}")
    python = shutil.which("python3")
    if results.files and python:
        run([python, str(DATA / "python_peers.py"),
             *(["--sizes", "1080p"] if arguments.quick else [])],
            "python_peers.py", "pipelines", results, optional=True)


def main():
    arguments = parse()
    results = Results()
    try:
        if not arguments.output.absolute().parent.is_dir():
            raise Unusable(f"--output {arguments.output}: folder {arguments.output.parent} does "
                           f"not exist")
        if arguments.archive:
            results.read_archive(arguments.archive)
        for kind in ("kernels", "pipelines", "gswo"):
            for path in getattr(arguments, kind):
                results.read(kind, path)
        # Checked before measuring, which takes minutes.
        try:
            from report_page import all_rows, page
        except ImportError as error:
            raise Unusable(f"{sys.executable} has no {error.name or error}: install "
                           f"python3-matplotlib "
                           "for it") from error
        if not results.files:
            run_benchmarks(arguments, results)
        if not results.files:
            raise Unusable("nothing to show: " + "; ".join(results.missing))
        output = arguments.output
        rest = output.with_name(output.stem + "-all" + output.suffix)
        pages = {rest: all_rows.make(results, arguments.title, output.name),
                 output: page.make(results, arguments.title, rest.name,
                                   arguments.archive and arguments.archive.name)}
        parts = {path: path.with_name(path.name + ".part") for path in pages}
        for path, text in pages.items():
            parts[path].write_text(text, encoding="utf-8")
        for path, part in parts.items():
            part.replace(path)
    except Unusable as error:
        print(f"cudascan-bench-report: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"cudascan-bench-report: --output {arguments.output}: {error.strerror}",
              file=sys.stderr)
        return 2
    for sentence in results.missing:
        print(f"cudascan-bench-report: {sentence}", file=sys.stderr)
    print(f"{arguments.output}\n{rest}")
    return 1 if results.missing else 0


if __name__ == "__main__":
    sys.exit(main())
