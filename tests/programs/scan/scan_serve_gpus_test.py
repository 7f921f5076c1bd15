# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan --serve on GPUs, which are emulated: what stays from run to run, and what a GPU
that fails leaves."""
import json

import program
import scans
import serving
from decoding import EMULATED, STAND_IN
from serving import Server


class Gpus(serving.Case):
    """The three emulated GPUs."""

    USUAL = ["--method=otsu", "--enlarge=no", "--resolution=100", "--despeckle=2", "--jobs=2",
             "--verbose", "--stats=stats.json"]

    def fill(self, name):
        for number in range(2):
            self.save(scans.turned(scans.text_page(260 + 11 * number, 340, seed=number), 2),
                      f"{name}/{number}.jpg", dpi=(100, 100), quality=90)

    def test_runs_are_those_of_processes_of_their_own(self):
        log = self.folder / "log"
        env = {"CUDASCAN_NVJPEG": STAND_IN, "NVJPEG_STAND_IN_LOG": str(log)}
        server = Server(self, self.here, EMULATED, env)
        answers = self.compare([[*self.USUAL, "in", "-o", f"out{number}", *words]
                                for number, words in enumerate((
                                    [], ["--cuda-device=0,2", "--also=gray.png"],
                                    ["--cuda-device=9"], ["--backend=cpu"],
                                    ["--decode=gpu", "--split=left-right"], ["--decode=gpu"],
                                    ["--decode=gpu"], ["--decode=gpu-kernels"]))],
                               server, EMULATED, env)
        self.assertEqual(answers, 2 * ["0"] + ["3"] + 5 * ["0"])
        server.end()

    def test_nvjpeg_is_opened_once(self):
        log = self.folder / "log"
        server = Server(self, self.here, EMULATED, {"CUDASCAN_NVJPEG": STAND_IN,
                                                    "NVJPEG_STAND_IN_LOG": str(log)})
        opened = []
        for number in range(3):
            self.assertEqual(server.run(*self.USUAL, "--decode=gpu", "in",
                                        "-o", str(number))[0], "0")
            stats = json.loads((self.here / "stats.json").read_text())
            self.assertEqual(stats["decoders"], {"gpu-engines": 2})
            self.assertLessEqual(stats["gpu_busy"], 1)
            opened.append(log.read_text().count("create engines"))
        self.assertEqual(opened, [1, 1, 1])
        server.end()

    def test_after_a_gpu_has_failed_the_process_ends(self):
        """The next one begins with all GPUs."""
        for words, status in (([], "0 end"), (["--backend=cuda"], "3 end")):
            out = "out" + status[0]
            server = Server(self, self.here, EMULATED, {"CUDASCAN_EMULATED_FAILURES": "0:40"})
            self.assertEqual(server.run("in", "-o", "x", "--backend=cpu")[0], "0")
            answer, said = server.run(*self.USUAL, "in", "-o", out, *words)
            self.assertEqual(answer, status, said)
            self.assertIn("GPU 0 has failed: ", said)
            self.assertEqual(server.process.wait(60), 0)
        server = Server(self, self.here, EMULATED)
        self.assertEqual(server.run(*self.USUAL, "in", "-o", out, "--resume")[0], "0")
        self.assertEqual(self.contents(self.here / "out0"), self.contents(self.here / "out3"))
        server.end()


if __name__ == "__main__":
    program.main()
