# SPDX-License-Identifier: LGPL-2.1-or-later
"""The plugin with only GST_PLUGIN_PATH set: GStreamer's scanner, gst-inspect-1.0, and gswo-cc of
the same build."""
import os
import pathlib
import re
import shutil
import tempfile
import unittest

import program

BUILD = pathlib.Path(os.environ["BUILD_ROOT"])
SOURCES = pathlib.Path(os.environ["SOURCE_ROOT"])
ELEMENTS = ["cuda" + name for name in os.environ["OPERATORS"].split()]
FAKE = "#!/bin/sh\necho 'the wrong gswo-cc' >&2\nexit 1\n"


class PluginPath(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        self.environment = {"GST_PLUGIN_PATH": str(BUILD / "gst"),
                            "GST_REGISTRY": str(self.folder / "registry"),
                            "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "PATH": f"{self.folder}/bin:/usr/local/bin:/usr/bin:/bin"}

    def run_only(self, command, **more):
        """Runs a command in an environment that has nothing else."""
        words = [f"{name}={value}" for name, value in {**self.environment, **more}.items()]
        return program.run(["env", "-i", *words, *command], cwd=self.folder)

    def test_the_scanner_takes_the_plugin_in_any_environment(self):
        (self.folder / "libcuda.so.1").write_text("not a library")
        for case in ({}, {"HOME": "/nonexistent"}, {"CUDA_VISIBLE_DEVICES": "nonsense"},
                     {"LD_LIBRARY_PATH": str(self.folder)},
                     {"CUDASCAN_MAX_CPU_ISA": "nonsense", "CUDASCAN_GSWO_CC": "/nonexistent",
                      "CUDASCAN_CXX": "/nonexistent", "CUDASCAN_NO_USER_CODE": "1"},
                     {"LC_ALL": "tr_TR.UTF-8"}):
            with self.subTest(case):
                # Nothing is scanned but this plugin.
                case = {**case, "GST_PLUGIN_SYSTEM_PATH_1_0": ""}
                pathlib.Path(self.environment["GST_REGISTRY"]).unlink(missing_ok=True)
                listed = self.run_only(["gst-inspect-1.0", "-b"], **case)
                self.assertNotIn("libgstcudascan", listed.stdout)
                self.assertEqual(listed.stderr, "")
                for element in ELEMENTS:
                    shown = self.run_only(["gst-inspect-1.0", element], **case)
                    self.assertEqual((shown.returncode, shown.stderr), (0, ""))

    def test_gst_inspect_names_the_pages_of_this_project(self):
        for name in ELEMENTS:
            text = self.run_only(["gst-inspect-1.0", name]).stdout
            self.assertRegex(text, r"Source module +gst-cudascan\n")
            page = re.search(r"(?:Doc-uri|Documentation) +file:///.+?/gst-cudascan/(\S+)\n", text)
            origin = re.search(r"Origin URL +file:///.+?/gst-cudascan/(\S+)\n", text)
            self.assertEqual((page[1], origin[1]), (f"docs/elements/{name}.md", "README.md"))
            for path in (page[1], origin[1]):
                self.assertTrue((SOURCES / path).exists(), "there is no such file to install")

    def filter_with_pragmas(self, **more):
        return self.run_only(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
                              "cudaswofilter", f"source={SOURCES}/examples/gswo/median.cpp", "!",
                              "fakesink"], **more)

    def write_program(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FAKE)
        path.chmod(0o755)

    @unittest.skipIf(os.environ["HAVE_GSWO"] != "yes", "gswo-cc is not part of this build")
    def test_gswo_cc_of_the_same_build_is_found(self):
        self.write_program(self.folder / "bin/gswo-cc")
        result = self.filter_with_pragmas()
        self.assertEqual(result.returncode, 0, result.stderr)
        # What is chosen counts more.
        result = self.filter_with_pragmas(CUDASCAN_GSWO_CC=self.folder / "bin/gswo-cc")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("the wrong gswo-cc", result.stderr)

    def test_a_copy_of_the_plugin_looks_in_its_own_folder_and_in_path(self):
        copy = self.folder / "copy/lib"
        copy.mkdir(parents=True)
        shutil.copy(BUILD / "gst/libgstcudascan.so", copy)
        for library in (BUILD / "kernels").glob("libcudascan.so*"):
            if library.is_file():
                shutil.copy(library, copy, follow_symlinks=False)
        self.environment.update(GST_PLUGIN_PATH=str(copy), LD_LIBRARY_PATH=str(copy))
        result = self.filter_with_pragmas()
        self.assertNotEqual(result.returncode, 0)
        if not shutil.which("gswo-cc", path="/usr/local/bin:/usr/bin:/bin"):
            self.assertIn("gswo-cc was not found", result.stderr)
        for place in ("bin", "copy/bin"):
            program_file = self.folder / place / "gswo-cc"
            self.write_program(program_file)
            self.assertIn("the wrong gswo-cc", self.filter_with_pragmas().stderr, place)
            program_file.unlink()


if __name__ == "__main__":
    program.main()
