# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan --serve: runs in one process do what the same runs do in processes of their own."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import unittest

import program
import scans
import serving
from serving import Server

PAGES = 16  # for a run that is ended early


class Serve(serving.Case):
    def test_runs_are_those_of_processes_of_their_own(self):
        cpu = ["--backend=cpu", "--stats=stats.json"]
        answers = self.compare([
            ["in", "-o", "a", *cpu],
            ["in", "-o", "a", *cpu],  # page-1.tif and so on
            ["in", "-o", "a", "--crop=nothing", *cpu],
            [],
            ["--no-such-option"],
            ["in/0.png", "in/1.png", "-o", "b", "--also=gray.tif,gray.png", "--jobs=1", *cpu],
            ["in", "-o", "b", "--also=gray.tif,gray.png", "--resume", *cpu],
            ["in", "-o", "b", "--method=nick", "--resume", "--verbose", "--jobs=2", *cpu],
            ["none", "-o", "c", *cpu],
            ["in", "-o", "in/0.png/c", *cpu],
            ["in", "-o", "d.pdf", "--mode=gray", "--quiet", *cpu],
            ["in", "-o", "d.pdf", "--mode=gray", "--resume", *cpu],
            ["in", "-o", "e.tif", "--blank=aside", "--crop=content", *cpu],
            ["in", "-o", "f", "--dry-run"],
            ["--version"],
            ["in/2.png", "-o", "g.png", "--title=x"],
            ["in/2.png", "-o", "a/", *cpu]], server := Server(self, self.here))
        self.assertEqual(answers, ["1", "1", "2", "2", "2", "0", "1", "1", "1", "3", "1", "0", "1",
                                   "1", "0", "2", "0"])
        server.end()

    def test_what_serving_does_not_have(self):
        server = Server(self, self.here)
        for words, reason in ((["in/0.png", "-o", "-"], "standard input and output are those of "
                               "--serve; name a file"),
                              (["-", "-o", "x"], "standard input and output are those of"),
                              (["--files-from=-", "-o", "x"], "standard input and output are"),
                              (["--serve"], "--serve: must be the only option"),
                              (["--help"], "Unknown option --help")):
            status, said = server.run(*words)
            self.assertEqual(status, "2", said)
            self.assertIn(reason, said)
        server.end()
        run = program.run([scans.SCAN, "--serve", "-o", "x"])
        self.assertEqual(run.returncode, 2)
        self.assertIn("--serve: must be the only option", run.stderr)

    def test_input_that_is_no_run(self):
        for data, reason in ((b"x\0", '"x" on standard input: must be the number of words'),
                             (b"\0", '"" on standard input: must be'), (b"-1\0", '"-1"'),
                             (b"1 \0", '"1 "'), (b"999999999\0", '"999999999"'),
                             (b"2\0in\0", "has ended after 1 of the 2 words of a run"),
                             (b"1\0in", "has ended in the middle of a word"),
                             (b"1", "has ended in the middle of a word")):
            run = subprocess.run([scans.SCAN, "--serve"], input=data, capture_output=True,
                                 timeout=60)
            self.assertEqual((run.returncode, run.stdout), (2, b""), data)
            self.assertIn(reason, run.stderr.decode())
        run = subprocess.run([scans.SCAN, "--serve"], input=b"1\0--version\0", capture_output=True,
                             timeout=60)
        self.assertEqual((run.returncode, run.stdout), (0, b"0\n"))
        self.assertTrue(run.stderr.startswith(b"cudascan-scan "))

    def test_words_may_be_any_bytes(self):
        name = b"two\nlines \xe9.png"
        shutil.copy(self.here / "in/0.png", bytes(self.here) + b"/" + name)
        server = Server(self, self.here)
        self.assertEqual(server.run("--backend=cpu", "-o", "a", "--", name)[0], "0")
        # Longer than what is read at a time.
        words = ["--backend=cpu", "-o", "b", "--title=" + 200_000 * "x", "in/0.png"]
        self.assertEqual(server.run(*words)[0], "2")
        self.assertEqual([os.fsencode(path.name) for path in (self.here / "a").glob("two*")],
                         [b"two\nlines \xe9.tif"])
        server.end()

    def many(self):
        for number in range(PAGES):
            self.save(scans.text_page(248, 350, seed=number), f"here/many/{number:02}.png")

    def test_a_signal_ends_the_run_and_the_process(self):
        self.many()
        for number in (signal.SIGTERM, signal.SIGINT):
            out = self.here / f"out{number}"
            server = Server(self, self.here)
            self.assertEqual(server.run("in/0.png", "-o", "first", "--backend=cpu")[0], "0")
            server.ask("many", "-o", out, "--jobs=1", "--backend=cpu")
            program.wait_until(lambda: list(out.glob("*.tif")), "the first page")
            server.process.send_signal(number)
            status, said = server.answer()
            self.assertEqual(status, f"{128 + number} end")
            self.assertIn("interrupted", said)
            self.assertEqual(server.process.wait(60), 128 + number)
            self.assertLess(len(list(out.glob("*.tif"))), PAGES)
            server = Server(self, self.here)
            words = ["many", "-o", out, "--jobs=1", "--backend=cpu", "--resume"]
            self.assertEqual(server.run(*words)[0], "0")
            self.assertEqual(len(list(out.glob("*.tif"))), PAGES)
            # Between two runs there is nothing to finish.
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(60), -number)

    def test_the_end_of_the_input_lets_a_run_end(self):
        self.many()
        server = Server(self, self.here)
        server.ask("many", "-o", "out", "--jobs=1", "--backend=cpu")
        server.process.stdin.close()
        self.assertEqual(server.answer()[0], "0")
        self.assertEqual(server.process.wait(60), 0)
        self.assertEqual(len(list((self.here / "out").glob("*.tif"))), PAGES)

    def test_an_answer_that_nobody_reads(self):
        server = Server(self, self.here)
        server.process.stdout.close()
        server.ask("in/0.png", "-o", "out", "--backend=cpu")
        self.assertEqual(server.process.wait(60), 3)
        self.assertIn("Broken pipe", server.heard().decode())
        self.assertTrue((self.here / "out/0.tif").exists())

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_a_full_disk(self):
        env = {"LD_PRELOAD": os.environ["STOP_AT_MODULE"], "FULL_AT": "3000"}
        server = Server(self, self.here, env=env)
        words = ["in", "-o", "a", "--backend=cpu", "--jobs=1", "--stats=/dev/null"]
        answers = self.compare([["in", "-o"], words], server, env=env)
        self.assertEqual(answers, ["2", "4"])
        server.end()

    def test_a_run_counts_its_own_processor_time(self):
        server = Server(self, self.here)
        used = 0
        for number in range(8):
            words = ["in/0.png", "-o", f"{number}", "--stats=stats.json", "--backend=cpu"]
            self.assertEqual(server.run(*words)[0], "0")
            used += json.loads((self.here / "stats.json").read_text())["cpu_seconds"]
        text = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1]
        ticks = sum(int(word) for word in text.split()[11:15])
        self.assertLessEqual(used, (ticks + 2) / os.sysconf("SC_CLK_TCK"))
        server.end()

    @unittest.skipIf("SANITIZED" in os.environ, "the memory is not that of the program")
    def test_memory_and_threads_do_not_grow(self):
        server = Server(self, self.here)
        words = ["in/0.png", "in/1.png", "in/2.png", "--backend=cpu", "--jobs=2", "-o"]
        found = []
        for number in range(24):
            self.assertEqual(server.run(*words, f"out{number}")[0], "0")
            found.append((server.facts("VmRSS"), server.facts("Threads")))
        (before, threads), (after, threads_after) = found[5], found[-1]
        self.assertEqual(threads, threads_after)
        self.assertLess(after, before + 2048, found)  # KB
        # The memory for a large page is not kept for small ones.
        self.save(scans.Image.effect_noise((6000, 6000), 60), "here/large.png", dpi=(600, 600))
        self.assertEqual(server.run("large.png", "--backend=cpu", "--jobs=2", "-o", "large")[0],
                         "0")
        large = server.facts("VmRSS")
        self.assertEqual(server.run(*words, "small")[0], "0")
        self.assertLess(server.facts("VmRSS"), large - 2 * 36_000, "two planes of the large page")
        server.end()


if __name__ == "__main__":
    program.main()
