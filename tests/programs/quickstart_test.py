# SPDX-License-Identifier: LGPL-2.1-or-later
"""What quickstart installs and builds on different machines. Scripts that record their arguments
replace the programs that it calls."""
import os
import pathlib
import shutil
import tempfile
import unittest

import program

STANDS_IN = """#!/bin/sh
echo "${0##*/} $*" >>"$CALLS"
"""
PROGRAMS = {
    "apt-get": STANDS_IN,
    "dpkg-query": "#!/bin/sh\nexit 1\n",  # nothing is installed
    "sudo": '#!/bin/sh\nexec "$@"\n',
    "nvcc": STANDS_IN,
    "nvidia-smi": '#!/bin/sh\n[ "$GPU" = yes ] && echo "GPU 0: some"\n',
    "pkg-config": "#!/bin/sh\nexit 0\n",
    "meson": STANDS_IN + 'touch "$BUILD_DIR/build.ninja"\necho gst-cudascan 0\n',
    # ninja -C FOLDER TARGET...: the first target is the program.
    "ninja": STANDS_IN + 'mkdir -p "$BUILD_DIR/${3%/*}"\n'
             'cp "$CLEAN" "$BUILD_DIR/$3"\n',
    "clean": STANDS_IN + 'echo "translator $CUDASCAN_GSWO_CC" >>"$CALLS"\n',
}


class Quickstart(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name, text in PROGRAMS.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)
        self.build = self.folder / "build"
        self.picture = self.folder / "picture.png"
        self.picture.touch()

    def start(self, *arguments, gpu=False, **environment):
        """What start_with() gives for the picture and these arguments."""
        return self.start_with(self.picture, *arguments, gpu=gpu, **environment)

    def start_with(self, *arguments, gpu=False, **environment):
        """The calls, a dictionary from program to arguments, and the output."""
        calls = self.folder / "calls"
        calls.write_text("")
        result = program.run(
            [os.environ["QUICKSTART"], *arguments],
            env={"PATH": f"{self.folder}:{os.environ['PATH']}", "CALLS": str(calls),
                 "CLEAN": str(self.folder / "clean"), "BUILD_DIR": str(self.build),
                 "GPU": "yes" if gpu else "no", "GPU_ARCH": "", "CUDASCAN_GSWO_CC": "",
                 **environment})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        called = {}
        for line in calls.read_text().splitlines():
            name, *words = line.split()
            called.setdefault(name, []).extend(words)
        return called, result.stdout

    def test_without_a_gpu_it_builds_for_the_cpu_and_says_so(self):
        called, said = self.start()
        self.assertIn("-Dcuda=disabled", called["meson"])
        self.assertIn("There is no NVIDIA GPU here: building for the CPU", said)
        self.assertNotIn("libgstreamer-plugins-bad1.0-dev", called["apt-get"])
        self.assertEqual(called["ninja"][2:], ["examples/cudascan-clean", "gst/libgstcudascan.so"])

    def test_it_builds_for_the_gpu_that_is_here(self):
        called, said = self.start(gpu=True)
        self.assertIn("-Dcuda=auto", called["meson"])
        self.assertIn("-Dgpu_arch=native", called["meson"])
        self.assertIn("libgstreamer-plugins-bad1.0-dev", called["apt-get"])
        self.assertNotIn("building for the CPU", said)

    def test_it_builds_for_a_gpu_that_is_named(self):
        called, _ = self.start(GPU_ARCH="sm_86")
        self.assertIn("-Dcuda=auto", called["meson"])
        self.assertIn("-Dgpu_arch=sm_86", called["meson"])

    def test_a_build_that_is_there_keeps_its_cuda_code(self):
        self.build.mkdir()
        (self.build / "build.ninja").touch()
        called, _ = self.start()
        self.assertIn("--reconfigure", called["meson"])
        self.assertNotIn("-Dcuda=disabled", called["meson"])

    def test_a_gpu_that_comes_later_is_used(self):
        self.start()
        called, _ = self.start(gpu=True)
        self.assertIn("--reconfigure", called["meson"])
        self.assertIn("-Dcuda=auto", called["meson"])

    def test_code_with_pragmas_brings_its_translator(self):
        for pragma in ("#pragma parallel", "  #  pragma gswo window(3, 3)"):
            with self.subTest(pragma):
                source = self.folder / "code.cpp"
                source.write_text(f"int x;\n{pragma}\n")
                called, said = self.start("element=cudaswofilter", f"source={source}")
                self.assertIn(f"{source} has pragmas", said)
                self.assertIn("libclang-cpp-dev", called["apt-get"])
                self.assertIn("gswo/gswo-cc", called["ninja"])
                self.assertEqual(called["translator"], [str(self.build / "gswo/gswo-cc")])

    def test_programs_bring_their_packages_and_get_their_arguments(self):
        film = self.folder / "film.mp4"
        film.touch()
        for name, target, package, *arguments in (
                ("cudascan-view", "examples/view/cudascan-view", "libgtk-3-dev", self.picture,
                 "-e", "cudanick"),
                ("cudascan-view", "examples/view/cudascan-view", "gstreamer1.0-libav", film),
                ("cudascan-scan", "examples/scan/cudascan-scan", "libvips-dev", film, "-o", "x"),
                ("gswo-cc", "gswo/gswo-cc", "libclang-cpp-dev", film)):
            with self.subTest(name):
                called, _ = self.start_with(name, *arguments)
                self.assertIn(package, called["apt-get"])
                self.assertEqual(called["ninja"][2:], [target, "gst/libgstcudascan.so"])
                self.assertEqual(called[name], [str(word) for word in arguments])
                self.assertEqual("gstreamer1.0-libav" in called["apt-get"],
                                 package == "gstreamer1.0-libav")

    def test_only_files_that_need_them_bring_decoders(self):
        self.assertNotIn("gstreamer1.0-libav", self.start()[0]["apt-get"])
        film = self.folder / "film.mp4"
        film.touch()
        self.assertIn("gstreamer1.0-libav", self.start_with(film)[0]["apt-get"])

    def test_a_file_that_is_not_there(self):
        result = program.run([os.environ["QUICKSTART"], self.folder / "none.png"])
        self.assertEqual(result.returncode, 1)
        self.assertIn("none.png: there is no such file. Give an image, a video, or one of",
                      result.stderr)

    def test_code_without_pragmas_needs_none(self):
        source = self.folder / "code.cpp"
        source.write_text("#pragma once\nint f() { return 0; }\n")
        called, _ = self.start("element=cudaswofilter", f"source={source}")
        self.assertNotIn("libclang-cpp-dev", called["apt-get"])
        self.assertNotIn("gswo/gswo-cc", called["ninja"])


if __name__ == "__main__":
    program.main()
