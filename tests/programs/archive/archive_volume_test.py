# SPDX-License-Identifier: LGPL-2.1-or-later
"""One volume of an archive, without a cluster: what is made, and what faults leave of it."""
import dataclasses
import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import unittest
from unittest import mock

import archives  # first: it may start another Python
import program
import scans

if not archives.WHY_NOT:
    import cudascan_archive
    import ray
    from cudascan_archive import cluster, place, scan, volume
    from cudascan_archive.manifest import Volume


class Made(archives.OneVolume):
    def test_a_volume_whose_worker_went_before_it_said_so_is_complete(self):
        setup = self.setup_of()
        first = self.make(setup=setup)
        again = self.make(setup=setup)
        self.assertEqual(again["pages"], first["pages"])
        self.make(status="done before")

    def test_pages_are_those_of_one_machine(self):
        pages = []
        result = self.make_volume(self.one, self.setup_of(), lambda: pages.append(1))
        self.assertEqual((result["status"], result["pages"], len(pages)), ("complete", 2, 2))
        self.check()
        for row in self.rows("pages"):
            self.assertEqual(row["input_sha256"], archives.sha256(self.source / row["input"]))
            self.assertEqual(row["bytes"], len(self.made()[row["output"]]))
            self.assertEqual(json.loads(row["measured"])["turned"], False)
            self.assertEqual((row["page"], row["part"], row["blank"], row["problem"]),
                             (1, "", False, ""))
        facts, = self.rows("volumes")
        self.assertEqual((facts["pages"], facts["failed"], facts["attempts"], facts["bytes"]),
                         (2, 0, 1, sum(map(len, self.made().values()))))
        self.assertEqual(list((self.out / "unfinished").iterdir()), [])

    def test_what_is_done_is_not_done_again(self):
        tool = self.program("")
        self.make(program=tool)
        before = {path: path.stat().st_mtime_ns for path in self.out.rglob("*") if path.is_file()}
        (self.out / "volumes/a/Thumbs.db").write_text("of another program")
        for more in ({}, {"trust_sizes": True}, {"retry_failed": True}):
            self.make(status="done before", program=tool, **more)
        (self.out / "records/volumes/a.parquet").unlink()
        self.make(status="done before", program=tool)
        self.assertEqual(self.calls(), {"a": 1})
        for path, time in before.items():
            if "records/volumes" not in str(path):
                self.assertEqual(path.stat().st_mtime_ns, time)
        self.assertEqual(self.rows("volumes")[0]["status"], "complete")

    def test_what_is_not_as_recorded_is_made_again_and_kept(self):
        def spoil(path):
            data = bytearray(path.read_bytes())
            data[-1] ^= 1
            path.write_bytes(data)
        page = self.out / "volumes/a/0.tif"
        record = self.out / "records/pages/a.parquet"
        self.make()
        for number, fault in enumerate((lambda: spoil(page), page.unlink, record.unlink,
                                        lambda: record.write_text("no Parquet")), 1):
            fault()
            spoilt = self.made()
            result = self.make()
            self.assertIn(f"old/a-{number}", result["reason"])
            self.assertEqual(self.tree(self.out / f"old/a-{number}"), spoilt)
            self.check()
        spoil(page)
        self.make(status="done before", trust_sizes=True)

    def test_changed_input_and_options(self):
        self.make()
        self.save(archives.text_page(9), "in/a/1.png")
        self.make()
        self.assertEqual(self.rows("volumes")[0]["reason"].split()[-3:],
                         ["in", "old/a-1", "now"])
        self.check()
        self.make(Volume("a", str(self.source), "--also=gray.tif"))
        self.check("a", "--also=gray.tif")
        self.assertEqual(sorted(self.made()), ["0.gray.tif", "0.tif", "1.gray.tif", "1.tif"])
        self.make(Volume("a", str(self.source), "--also=gray.tif"), "done before")

    def test_a_file_that_changes_meanwhile(self):
        tool = self.program(f"[ -e {self.folder}/once ] || {{ touch {self.folder}/once; "
                            f"cp {self.source}/0.png {self.source}/1.png; }}")
        setup = self.setup_of(program=tool)
        self.assertIn("changed", self.make(status="again", setup=setup)["reason"])
        self.assertFalse((self.out / "volumes").exists())
        self.make(setup=setup)
        self.check()
        self.assertEqual(self.rows("volumes")[0]["attempts"], 2)

    def test_blank_pages_halves_and_several_pages(self):
        book = [archives.text_page(seed) for seed in (5, 6)]
        book[0].save(self.source / "book.tif", save_all=True, append_images=book[1:])
        scans.Image.new("L", (248, 350), 255).save(self.source / "white.png")
        words = ["--split=left-right", "--blank=aside"]
        self.make(Volume("a", str(self.source), " ".join(words)))
        self.check("a", *words)
        rows = {row["output"]: row for row in self.rows("pages")}
        self.assertEqual([(row["input"], row["page"], row["part"]) for row in
                          (rows["book-p002-left.tif"], rows["0-right.tif"])],
                         [("book.tif", 2, "left"), ("0.png", 1, "right")])
        self.assertTrue(any(row["blank"] for row in rows.values()))
        self.make(Volume("b", str(self.source / "white.png"), "--blank=drop"))
        self.assertEqual(self.made("b"), {})
        self.make(Volume("b", str(self.source / "white.png"), "--blank=drop"), "done before")

    def test_damaged_pages(self):
        (self.source / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")
        result = self.make(status="incomplete")
        self.assertEqual((result["pages"], result["failed"]), (2, 1))
        row = next(row for row in self.rows("pages") if row["input"] == "bad.png")
        self.assertIn("header of the PNG file is damaged", row["problem"])
        self.make(status="done before")
        self.make(status="incomplete", retry_failed=True)
        self.save(archives.text_page(9), "in/a/bad.png")
        self.make()
        self.check()

    def test_odd_names(self):
        for name in (b"two\nlines.png", b"tab\t%41.png", b"latin-\xe9.png", "\u4e2d.png".encode()):
            shutil.copy(self.source / "0.png", os.fsencode(self.source) + b"/" + name)
        self.make(Volume("a", f"{self.source}/*.png"))
        made = {place.printable(name) for name in self.made()}
        self.assertIn("latin-\\xe9.tif", made)
        self.assertEqual({row["output"] for row in self.rows("pages")}, made)
        self.assertEqual({row["input"].replace(".png", ".tif") for row in self.rows("pages")}, made)
        self.make(Volume("a", f"{self.source}/*.png"), "done before")

    def test_a_volume_that_always_crashes(self):
        tool = self.program("kill -SEGV $$")
        setup = self.setup_of(program=tool, tries=2)
        self.assertIn("signal 11", self.make(status="again", setup=setup)["reason"])
        said = self.make(status="set aside", setup=setup)["reason"]
        self.assertRegex(said, "2 attempts have failed, the last one on .*: .* signal 11")
        row, = self.rows("volumes")
        self.assertEqual((row["status"], row["reason"]), ("set aside", said))
        self.make()  # in another run
        self.check()

    def test_volumes_share_a_process(self):
        maker = scan.Program(scans.SCAN)
        self.addCleanup(maker.end)

        def make(name, status="complete", options=""):
            source = self.volume(name, first=len(name))
            one = Volume(name, str(source), options)
            result = volume.make(one, self.setup_of(), maker)
            self.assertEqual(result["status"], status, result)
            return maker.child and maker.child.pid
        first = make("a")
        self.assertEqual([make("bb", options="--also=gray.tif"),
                          make("ccc", "set aside", "--crop=nothing"), make("dddd")], 3 * [first])
        # It is killed between two volumes, for instance as memory is short.
        os.kill(first, signal.SIGKILL)
        os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
        second = make("eeeee")
        self.assertNotIn(second, (None, first))
        for name, words in (("a", ()), ("bb", ("--also=gray.tif",)), ("dddd", ()), ("eeeee", ())):
            self.assertEqual(self.made(name), self.alone(name, *words))
        self.check_records()
        maker.end()
        self.assertRaises(ProcessLookupError, os.kill, second, 0)

    def test_a_process_that_ends_after_its_answer_is_replaced(self):
        """As cudascan-scan does when a GPU has failed."""
        tool = self.program(f"echo $$ >>{self.folder}/pids")
        text = pathlib.Path(tool).read_text()
        pathlib.Path(tool).write_text(text.replace("echo $? >&3", 'echo "$? end" >&3; exit'))
        maker = scan.Program(tool)
        self.addCleanup(maker.end)
        for name in ("a", "b"):
            one = Volume(name, str(self.volume(name)))
            self.assertEqual(volume.make(one, self.setup_of(), maker)["status"], "complete")
            self.assertIsNotNone(maker.child.poll())
        self.assertEqual(len(set((self.folder / "pids").read_text().split())), 2)

    def test_other_failures(self):
        for script, words, status, reason in (
                ("", {"stall": 1}, "again", None),
                ("sleep 30", {"stall": 0.3}, "again", "no page was finished for 0.3 s"),
                ("echo no GPU; exit 3", {}, "again", "no GPU"),
                ("", {"options": "--crop=nothing"}, "set aside", "--crop=nothing"),
                ("echo x >&3; sleep 30", {}, "again", "has answered b'x\\n' instead of a status"),
                ("echo full; exit 4", {}, "stop", "full")):
            with self.subTest(script):
                setup = self.setup_of(program=self.program(script), **words)
                if reason:
                    self.assertIn(reason, self.make(status=status, setup=setup)["reason"])
        with mock.patch.object(scan.Program, "run", side_effect=RuntimeError("of a library")):
            self.assertEqual(self.make(status="again")["reason"], "RuntimeError: of a library")
        result = self.make(Volume("a", str(self.source / "missing")), "again")
        self.assertIn("missing: there is no such file or folder", result["reason"])

    def test_a_worker_whose_kills_go_on(self):
        setup = self.setup_of(tries=2)
        for _ in range(2):
            self.killed_at(0, setup, before=lambda: mock.patch.object(
                scan.Program, "run", side_effect=lambda *_: os._exit(9)))
        said = self.make(status="set aside", setup=setup)["reason"]
        self.assertIn("2 attempts have failed", said)
        self.assertIn("its worker was killed, or its node was lost", said)
        self.make()
        self.check()

    def test_a_worker_killed_at_each_moment(self):
        moment, expected = 0, None
        while self.killed_at(moment, setup := self.setup_of()):
            result = self.make_volume(self.one, setup)
            self.assertIn(result["status"], ("complete", "done before"), (moment, result))
            expected = expected or self.alone("a")
            self.assertEqual(self.made(), expected, moment)
            self.check_records()
            self.assertEqual(self.rows("volumes")[0]["status"], "complete")
            self.assertFalse((self.out / "old").exists())
            shutil.rmtree(self.out)
            moment += 1
        self.assertGreater(moment, 12)

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_cudascan_scan_killed_at_each_moment(self):
        moment, killed = 0, True
        expected = self.alone("a")
        while killed:
            with mock.patch.dict(os.environ, {"LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                                              "STOP_AT": str(moment)}):
                with mock.patch("shutil.which", return_value=None):  # no setpriv: it stops, too
                    killed = self.make_volume(self.one, self.setup_of())["status"] != "complete"
            if killed:
                self.make(setup=self.setup_of())
            self.assertEqual(self.made(), expected, moment)
            self.check_records()
            shutil.rmtree(self.out)
            moment += 3
        self.assertGreater(moment, 6)

    def test_finished_pages_of_a_killed_attempt_stay(self):
        tool = self.program(f"mkdir -p $out; {scans.SCAN} {self.source}/0.png -o $out "
                            f"--backend=cpu {self.options}; cp -a $out/0.tif "
                            f"{self.folder}/first; kill -KILL $$")
        self.make(status="again", program=tool)
        self.make()
        self.assertEqual((self.out / "volumes/a/0.tif").stat().st_mtime_ns,
                         (self.folder / "first").stat().st_mtime_ns)
        self.check()
        measured = {row["output"]: row["measured"] for row in self.rows("pages")}
        self.assertIsNone(measured["0.tif"])
        self.assertIsNotNone(measured["1.tif"])

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_a_full_disk(self):
        with mock.patch.dict(os.environ, {"LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                                          "FULL_AT": "3000"}):
            result = self.make(status="stop")
        self.assertTrue(result["full"])
        self.assertFalse((self.out / "volumes").exists())
        full = OSError(errno.ENOSPC, "No space left on device")
        for name in ("replace", "fsync"):
            with mock.patch.object(os, name, side_effect=full):
                self.assertIn("No space left", self.make(status="stop")["reason"])
        self.make()
        self.check()

    def test_nodes_that_cannot_work(self):
        setup = self.setup_of()
        self.assertIn("is not the archive: there is no archive.json",
                      volume.problem_of_node(setup))
        self.out.mkdir()
        (self.out / "archive.json").write_text("{}")
        self.assertEqual(volume.problem_of_node(setup), "")
        self.assertIn(f"is version {archives.version()}, but 99.0 is needed",
                      volume.problem_of_node(self.setup_of(version="99.0")))
        self.assertIn("--program=/none cannot be run",
                      volume.problem_of_node(self.setup_of(program="/none")))

    def test_a_scratch_folder_of_somebody_else(self):
        setup = self.setup_of(scratch="")
        with mock.patch("tempfile.gettempdir", return_value=str(self.folder)):
            path = pathlib.Path(volume.scratch_of(setup, self.one))
            self.assertEqual(path.parent.stat().st_mode & 0o777, 0o700)
            self.assertEqual(volume.scratch_of(setup, self.one), str(path))
            path.parent.rename(self.folder / "other")
            path.parent.symlink_to("other")
            with self.assertRaisesRegex(scan.Stop, "somebody else; name a folder with --scratch"):
                volume.scratch_of(setup, self.one)

    def test_nodes_need_not_have_the_package(self):
        """What Ray sends to a node works where cudascan_archive cannot be imported."""
        self.out.mkdir()
        (self.out / "archive.json").write_text("{}")
        ray.cloudpickle.register_pickle_by_value(cudascan_archive)
        self.addCleanup(ray.cloudpickle.unregister_pickle_by_value, cudascan_archive)
        sent = ray.cloudpickle.dumps((cluster.Worker, self.setup_of()))
        code = ("import json, sys, pyarrow, ray.cloudpickle\n"
                "assert 'cudascan_archive' not in sys.modules\n"
                "worker, setup = ray.cloudpickle.loads(sys.stdin.buffer.read())\n"
                f"one = json.dumps({dataclasses.asdict(self.one)})\n"
                "print(worker(setup)(pyarrow.table({'volume': [one]})).to_pylist()[0]['outcome'])")
        run = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True,
                             timeout=60, cwd="/", env={**os.environ, "PYTHONPATH": ""})
        self.assertEqual(run.returncode, 0, run.stderr.decode())
        self.assertEqual(json.loads(run.stdout)["status"], "complete", run.stdout)
        self.check()

    def test_workers_of_several_runs_at_one_volume(self):
        tool, results = self.program("sleep 0.3"), []
        setups = [self.setup_of(program=tool) for _ in range(3)]
        threads = [threading.Thread(target=lambda setup=setup: results.append(
            self.make_volume(self.one, setup)["status"])) for setup in setups]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(results), ["complete", "done before", "done before"])
        self.assertEqual(self.calls(), {"a": 1})
        self.check()

    def test_cudascan_scan_ends_with_its_worker(self):
        tool = self.program(f"echo $$ >{self.folder}/pid; sleep 60")
        child = os.fork()
        if child == 0:
            try:
                self.make_volume(self.one, self.setup_of(program=tool))
            finally:
                os._exit(0)
        pid_file = self.folder / "pid"
        program.wait_until(lambda: pid_file.exists() and pid_file.read_text().strip(), "a start")
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pid = pid_file.read_text().strip()

        def ended():
            try:
                with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                    return file.read().rsplit(")", 1)[1].split()[0] == "Z"
            except OSError:
                return True
        program.wait_until(ended, "the end of cudascan-scan")


if __name__ == "__main__":
    program.main()
