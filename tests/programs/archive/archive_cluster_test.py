# SPDX-License-Identifier: LGPL-2.1-or-later
"""An archive on a cluster of several nodes, all on this machine, and the faults that happen to
one. The result is what a single machine makes."""
import contextlib
import logging
import os
import re
import signal
import subprocess
import unittest
import urllib.request

import archives  # first: it may start another Python
import program

STORE = 80_000_000  # bytes of shared memory for each node
if not archives.WHY_NOT:
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_BACKEND_LOG_LEVEL"] = "fatal"
    import ray
    from ray.cluster_utils import Cluster


@unittest.skipIf(archives.WHY_NOT, archives.WHY_NOT)
class Nodes(archives.Case):
    """A head without cores, which the programs run on, and nodes with one core each."""

    @classmethod
    def setUpClass(cls):
        # Node loss is noticed after 5 instead of 15 seconds.
        cls.cluster = Cluster(initialize_head=True, head_node_args={
            "num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False,
            "_system_config": {"health_check_period_ms": 1000, "metrics_report_interval_ms": 500,
                               "health_check_failure_threshold": 5}})
        cls.addClassCleanup(cls.cluster.shutdown)
        cls.nodes = [cls.node("one"), cls.node("two")]

    @classmethod
    def node(cls, name):
        return cls.cluster.add_node(num_cpus=1, object_store_memory=STORE,
                                    env_vars={"NODE": name})

    def words(self, path, tool, *more):
        return [path, "-o", self.out, "--address", self.cluster.address, "--program", tool,
                "--cpus=1", f"--options={self.options}", *more]

    def start(self, *words):
        """Starts a driver; what it says goes into the file `said`."""
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            driver = subprocess.Popen([*archives.MAIN, *map(str, words)], stdout=said, stderr=said,
                                      stdin=subprocess.DEVNULL)
        self.addCleanup(driver.wait)
        self.addCleanup(driver.kill)
        return driver

    def check_metrics(self):
        """A page shows up in the metrics of its node, which Ray's dashboard reads."""
        ray.init(address=self.cluster.address, log_to_driver=False, logging_level=logging.ERROR)
        try:
            ports = [node["MetricsExportPort"] for node in ray.nodes() if node["Alive"]]
        finally:
            ray.shutdown()

        def shown():
            text = ""
            for port in ports:
                with contextlib.suppress(OSError), urllib.request.urlopen(
                        f"http://{self.cluster.address.split(':')[0]}:{port}", timeout=5) as page:
                    text += page.read().decode()
            return re.search("^ray_cudascan_archive_pages(_total)?{.* [1-9]", text, re.M)
        program.wait_until(shown, "the metric of the pages", 60)

    def check(self, names, words=()):
        for name in names:
            self.assertEqual(self.tree(self.out / "volumes" / name), self.alone(name, *words))
        self.check_records()
        self.assertFalse((self.out / "old").exists())

    def test_workers_killed_a_node_lost_and_a_volume_that_crashes(self):
        names = [f"v{number:02}" for number in range(12)]
        for number, name in enumerate(names):
            self.volume(name, pages=1, first=number)
        self.volume("poison", pages=1)
        # Each call notes its node and its worker. Node two is slow.
        tool = self.program(
            f"echo $NODE $PPID $out >>{self.folder}/at\n"
            "case $out in */poison/*) kill -SEGV $$;; esac\n"
            "case $NODE in two) sleep 1.5;; *) sleep 0.3;; esac")
        path = self.manifest([("poison", "in/poison")] + [(name, f"in/{name}") for name in names])
        # There is no room for the third worker at first.
        driver = self.start(*self.words(path, tool, "--tries=2", "--workers=3"))
        at = self.folder / "at"

        def begun(node, count):
            return at.exists() and at.read_text().count(f"{node} ") >= count
        program.wait_until(lambda: begun("one", 3) and begun("two", 1), "the first volumes", 90)
        self.check_metrics()
        # The parent of the program is the worker: setpriv becomes the program.
        worker = int([line for line in at.read_text().splitlines()
                      if line.startswith("one")][-1].split()[1])
        os.kill(worker, signal.SIGKILL)
        self.cluster.remove_node(self.nodes.pop(), allow_graceful=False)
        self.nodes.append(self.node("three"))
        self.assertEqual(driver.wait(120), 1, (self.folder / "said").read_text())
        self.check(names)
        said = (self.folder / "said").read_text()
        self.assertRegex(said, "poison: set aside: 2 attempts have failed, .* signal 11")
        self.assertIn("12 pages in", said)
        self.assertIn("volumes: 12 complete, 1 set aside", said)
        self.assertEqual([row["volume"] for row in self.rows("volumes")
                          if row["status"] == "set aside"], ["poison"])
        self.assertTrue(begun("three", 1), at.read_text())
        # Only what was under way when the worker and the node went may have been begun twice.
        twice = {name for name, count in self.calls().items() if count > 1} - {"poison"}
        self.assertLessEqual(len(twice), 2, self.calls())

    def test_the_driver_killed_and_started_again_and_a_full_disk(self):
        names = [f"v{number}" for number in range(6)]
        for number, name in enumerate(names):
            self.volume(name, pages=2, first=number)
        full = self.folder / "full"
        tool = self.program(f"sleep 0.3\ncase $out in */v5/*) [ ! -e {full} ] || "
                            "{ echo No space left; exit 4; };; esac")
        path = self.manifest([(name, f"in/{name}") for name in names])
        driver = self.start(*self.words(path, tool))
        records = self.out / "records/volumes"
        program.wait_until(lambda: records.exists() and len(list(records.glob("v*"))) >= 2,
                           "the first volumes", 90)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
        full.touch()
        said = self.archive(*self.words(path, tool, "--resume"), status=4)
        self.assertIn("No space left; the run ends here, and --resume goes on", said)
        full.unlink()
        said = self.archive(*self.words(path, tool, "--resume"))
        self.assertRegex(said, "volumes: [1-5] complete, [1-5] done before; 0 pages failed")
        self.check(names)
        self.assertEqual({row["volume"]: row["status"] for row in self.rows("volumes")},
                         dict.fromkeys(names, "complete"))
        # At most the volume of each node at the time of the kill was begun twice.
        calls = self.calls()
        calls.pop("v5")
        self.assertLessEqual(sum(calls.values()) - len(calls), len(self.nodes), calls)


@unittest.skipIf(archives.WHY_NOT, archives.WHY_NOT)
class Alone(archives.Case):
    def test_a_worker_has_one_process_which_ends_with_it(self):
        for number in range(4):
            self.volume(f"v{number}", first=number)
        tool = self.program(f"echo $$ >>{self.folder}/pids")
        path = self.manifest([(f"v{number}", f"in/v{number}") for number in range(4)])
        self.archive(path, "-o", self.out, "--program", tool, "--workers=1",
                     f"--options={self.options}")
        for number in range(4):
            self.assertEqual(self.tree(self.out / f"volumes/v{number}"), self.alone(f"v{number}"))
        pid, *others = (self.folder / "pids").read_text().split()
        self.assertEqual(others, 3 * [pid])
        program.wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the end of the process")

    def test_it_starts_a_cluster_on_this_machine_and_ends_by_a_signal(self):
        self.volume("a", pages=2)
        self.volume("b", pages=2, first=5)
        tool = self.program(f"case $out in */b/*) [ -e {self.folder}/go ] || sleep 60;; esac")
        path = self.manifest([("a", "in/a"), ("b", "in/b")])
        words = [path, "-o", self.out, "--program", tool, "--workers=1",
                 f"--options={self.options}"]
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            driver = subprocess.Popen([*archives.MAIN, *map(str, words)], stdout=said, stderr=said)
        program.wait_until(lambda: "b" in self.calls() and
                           "a complete" in (self.folder / "said").read_text(), "volume b", 90)
        driver.terminate()
        self.assertEqual(driver.wait(60), 143, (self.folder / 'said').read_text())
        said = (self.folder / "said").read_text()
        self.assertIn("ended by a signal; --resume goes on", said)
        self.assertIn("2 pages in", said)
        (self.folder / "go").touch()
        self.assertEqual(self.tree(self.out / "volumes/a"), self.alone("a"))
        self.assertFalse((self.out / "volumes/b").exists())


if __name__ == "__main__":
    program.main()
