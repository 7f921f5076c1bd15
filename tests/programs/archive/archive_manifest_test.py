# SPDX-License-Identifier: LGPL-2.1-or-later
"""The manifest, wrong usage, and archives in an object store, without a cluster."""
import logging
import os
import subprocess
import unittest
from unittest import mock

import archives  # first: it may start another Python
import program
import scans

if not archives.WHY_NOT:
    import fsspec
    import pyarrow
    import pyarrow.parquet
    import simulate
    from cudascan_archive import cluster, main, manifest, scan, volume
    from cudascan_archive.manifest import BadInput, Volume
try:
    from moto.server import ThreadedMotoServer
    import s3fs
    assert s3fs
except ImportError:
    ThreadedMotoServer = None


class Manifest(archives.Case):
    def read(self, text, name="m.csv"):
        (self.folder / name).write_text(text)
        return manifest.read(str(self.folder / name))

    def test_csv_and_parquet(self):
        expected = [Volume("007", f"{self.folder}/in/7", "--crop=page", 12),
                    Volume("Zeitung 1911, Nr. 3", "s3://bucket/x/*.jp2"),
                    Volume("\u00e9t\u00e9", "/abs/book.pdf")]
        text = ('volume,title,input,options,pages\n007,Bond,in/7,--crop=page,12\n'
                '"Zeitung 1911, Nr. 3",,s3://bucket/x/*.jp2,,\n\u00e9t\u00e9,,/abs/book.pdf,,\n')
        self.assertEqual(self.read(text), expected)
        rows = [{"volume": one.name, "input": one.input, "options": one.options,
                 "pages": one.pages} for one in expected]
        path = str(self.folder / "m.parquet")
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
        self.assertEqual(manifest.read(path), expected)

    def test_what_is_wrong(self):
        for text, said in (
                ("volume\na\n", "there is no column 'input', only volume"),
                ("volume,input\n", "it has no rows"),
                ("volume,input\na,\n", "row 1: volume=a has no input"),
                ("volume,input\na,x\nA,y\n", "row 2: volume=A is there twice"),
                ("volume,input\n../a,x\n", "row 1: volume='../a' has to be a plain name"),
                ("volume,input\n.a,x\n", "volume='.a'"), ("volume,input\na/b,x\n", "volume='a/b'"),
                ("volume,input,options\na,x,-o y\n", "row 1: -o is not for volumes"),
                ("volume,input,options\na,x,--jobs=3\n", "--jobs=3 is not for volumes"),
                ("volume,input,options\na,x,--crop='\n", "No closing quotation"),
                ("volume,input,pages\na,x,many\n", "pages=many is not a number"),
                ("volume,input\na,x,y,z\n", "it cannot be read")):
            with self.subTest(text), self.assertRaises(BadInput) as caught:
                self.read(text)
            self.assertIn(said, str(caught.exception))
        with self.assertRaisesRegex(BadInput, "must end with .csv or .parquet"):
            self.read("", "m.txt")
        with self.assertRaisesRegex(BadInput, "it cannot be read"):
            self.read("no Parquet", "m.parquet")
        with self.assertRaisesRegex(BadInput, "none.csv: it cannot be read"):
            manifest.read(str(self.folder / "none.csv"))

    def test_options(self):
        path = str(self.manifest([("a", "in/a")]))
        begin = [path, "-o", str(self.out), "--program", scans.SCAN]
        for words, said in (
                (["--tries=0"], "--tries=0: it has to be 1 or more"),
                (["--gpu-share=2"], "--gpu-share has to be auto"),
                (["--trust-sizes"], "--trust-sizes is for --resume"),
                (["--options=--stats=x"], "--options: --stats=x is not for volumes"),
                (["--options=--crop=nothing"], "options '--crop=nothing': cudascan-scan: --crop")):
            with self.subTest(words), self.assertRaises(BadInput) as caught:
                main.archive([*begin, *words])
            self.assertIn(said, str(caught.exception))
        with self.assertRaisesRegex(scan.Stop, "--program=/none cannot be run on"):
            main.archive([*begin[:-1], "/none"])
        self.assertFalse(self.out.exists())

    def test_an_archive_has_one_version_and_one_set_of_options(self):
        def words(*more):
            return main.parse(["m.csv", "-o", str(self.out), *more])
        main.open_archive(words("--options=--crop=page"), "0.1.0")
        with self.assertRaisesRegex(BadInput, "there is an archive already; --resume goes on"):
            main.open_archive(words(), "0.1.0")
        main.open_archive(words("--options=--crop=page", "--resume"), "0.1.0")
        with self.assertRaisesRegex(BadInput, "begun with options '--crop=page', not ''"):
            main.open_archive(words("--resume"), "0.1.0")
        with self.assertRaisesRegex(BadInput, "begun with version '0.1.0', not '0.2.0'"):
            main.open_archive(words("--options=--crop=page", "--resume"), "0.2.0")
        other = self.folder / "other/volumes/x"
        other.mkdir(parents=True)
        (other / "file").write_text("")
        with self.assertRaisesRegex(BadInput, "a folder volumes, but not from this program"):
            main.open_archive(main.parse(["m.csv", "-o", str(self.folder / "other")]), "0.1.0")

    def test_progress(self):
        with mock.patch("sys.stderr") as stderr, mock.patch("time.monotonic") as clock:
            stderr.isatty.return_value = False
            clock.return_value = 100
            progress = main.Progress([Volume("a", "x", "", 30), Volume("b", "x", "", 10),
                                      Volume("c", "x", "", 60)], False)
            clock.return_value = 104
            facts = {"reason": "", "node": "n", "failed": 0}
            progress.add({"volume": "b", "status": "done before", "pages": 10, **facts})
            self.assertEqual(progress.time_left(), "?")
            progress.add({"volume": "a", "status": "complete", "pages": 28, **facts, "failed": 2})
            self.assertEqual((progress.rate(), progress.time_left()), (7, "0:00:08"))
            self.assertEqual(progress.summary(), 1)
        said = "".join(call.args[0] for call in stderr.write.call_args_list)
        self.assertIn("2/3 volumes  28 pages  7.0/s  2 failed  0:00:08 left: a complete on n", said)

    def test_the_share_of_a_gpu(self):
        for busy, cores, cpus, workers in ((0.17, 16, 4, 4), (0.17, 64, 4, 5), (0.6, 64, 4, 1),
                                           (0, 16, 4, 4), (1, 2, 4, 1)):
            self.assertAlmostEqual(cluster.share_of(busy, cores, cpus), 1 / workers)

    def test_the_first_volumes_measure_the_share_and_failures_are_tried_again(self):
        """A cluster of two nodes with two GPUs and 16 cores each, played by this test."""
        volumes = [Volume(f"v{number}", "x") for number in range(6)]
        rounds, fails = [], {"v1": 1, "v4": 9}

        def outcomes(given, setup, workers, share):
            rounds.append(([one.name for one in given], workers, share))
            for one in given:
                fails[one.name] = fails.get(one.name, 0) - 1
                again = fails[one.name] >= 0
                yield {"volume": one.name, "status": "again" if again else "complete", "node": "n",
                       "reason": "lost" if again else "", "pages": 0 if again else 5, "failed": 0,
                       "gpu_busy": 0 if again else 0.3}
        nodes = [{"Alive": True, "Resources": {"CPU": 16, "GPU": 2}}] * 2
        with mock.patch.object(cluster, "outcomes", outcomes), \
                mock.patch.object(cluster, "gpus", return_value=4), \
                mock.patch.object(cluster.ray, "nodes", return_value=nodes), \
                mock.patch("sys.stderr"):
            run = main.Run(main.parse(["m.csv", "-o", "x"]), volumes,
                           volume.Setup("x", "r", "0.1.0", backend="cuda", cpus=4, tries=2))
            self.assertEqual(run.all(volumes), 1)
        # At 30 % three workers would fit on a GPU, but there are cores for two.
        self.assertEqual(rounds, [(["v0", "v1", "v2"], 4, 1), (["v3", "v4", "v5"], 8, 0.5),
                                  (["v1", "v4"], 8, 0.5), (["v4"], 8, 0.5)])
        self.assertEqual(run.progress.count, {"complete": 5, "incomplete": 0, "done before": 0,
                                              "set aside": 1})
        self.assertEqual(run.progress.pages, 25)


class Simulated(archives.Case):
    """The simulation, where its result can be told by hand."""

    def rate(self, pages=30_000, **facts):
        base = {"nodes": 1, "workers": 1, "rate": 100, "page": 1e6, "result": 0, "storage": 1e9,
                "network": 1e9, "requests": 1e9, "volume": 300, "start": 0, "driver": 0, "loss": 0}
        return simulate.simulated(simulate.Model(**{**base, **facts}), pages)[0]

    def test_rates(self):
        # A worker copies a page in 1 ms and computes for 10.
        self.assertAlmostEqual(self.rate(), 1 / 0.011, delta=0.01)
        # Starting a volume takes as long as one page of 300.
        self.assertAlmostEqual(self.rate(start=0.011), 300 / 301 / 0.011, delta=0.1)
        for facts, limit in (({"storage": 5e7}, 50), ({"requests": 80}, 40),
                             ({"driver": 15}, 20)):
            rate = self.rate(nodes=20, pages=300_000, **facts)
            self.assertTrue(0.95 * limit < rate <= limit * 1.02, (facts, rate))
        self.assertAlmostEqual(self.rate(nodes=8, pages=600_000, storage=1e11) / self.rate(), 8,
                               delta=0.2)

    def test_lost_nodes(self):
        # Each minute a node is lost for a minute, and half a volume is done again.
        rate = self.rate(pages=3_000_000, loss=60, repair=60)
        self.assertTrue(0.43 < rate / self.rate() < 0.54, rate)
        price = simulate.simulated(simulate.Model(nodes=1), 30_000)[1]
        self.assertGreater(price, 1e6 * 4 / 3600 / 383)


@unittest.skipIf(ThreadedMotoServer is None, f"s3fs and moto are not installed: {archives.HOW}")
class ObjectStore(archives.Case):
    """The same in S3, as moto imitates it."""

    @classmethod
    def setUpClass(cls):
        logging.getLogger("werkzeug").setLevel(logging.ERROR)  # a line for each request
        cls.server = ThreadedMotoServer(port=0, verbose=False)
        cls.server.start()
        cls.addClassCleanup(cls.server.stop)
        _, port = cls.server.get_host_and_port()
        patch = mock.patch.dict(os.environ, {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x", "AWS_DEFAULT_REGION": "us-east-1"})
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.store = fsspec.filesystem("s3")
        cls.store.mkdir("archive")

    def setUp(self):
        super().setUp()
        self.local = self.volume("a", pages=3)
        self.store.put(f"{self.local}/", "archive/in/a/", recursive=True)
        self.addCleanup(self.store.rm, "archive/in", recursive=True)
        self.one = Volume("a", "s3://archive/in/a")
        self.number = 0

    def make(self, status, dest, one=None, **more):
        self.number += 1
        setup = volume.Setup(dest=dest, run=f"run{self.number}", version=archives.version(),
                             program=scans.SCAN, options=self.options,
                             scratch=str(self.folder / "scratch"), **more)
        result = self.make_volume(one or self.one, setup)
        self.assertEqual(result["status"], status, result)
        return result

    def fetched(self, prefix):
        target = self.folder / "fetched"
        if target.exists():
            subprocess.run(["rm", "-r", target], check=True)
        self.store.get(f"archive/{prefix}", str(target), recursive=True)
        return target

    def check(self, prefix, name="a", source=None):
        here = self.fetched(prefix)
        self.assertEqual(self.tree(here / "volumes" / name), self.alone(name, source=source))
        self.check_records(here)
        scratch = self.folder / "scratch"
        self.assertEqual([path for path in scratch.rglob("*") if path.is_file()], [])

    def test_everything_in_the_store(self):
        with fsspec.open("s3://archive/in/manifest.csv", "w") as file:
            file.write("volume,input\na,a\n")
        one, = manifest.read("s3://archive/in/manifest.csv")
        self.assertEqual(one, self.one)
        self.make("complete", "s3://archive/out")
        self.check("out")
        self.make("done before", "s3://archive/out")
        self.make("done before", "s3://archive/out", trust_sizes=True)
        page = "archive/out/volumes/a/0.tif"
        self.store.pipe_file(page, self.store.cat_file(page)[:-1] + b"!")
        self.make("done before", "s3://archive/out", trust_sizes=True)
        self.make("complete", "s3://archive/out")
        self.check("out")
        self.store.put_file(str(self.local / "0.png"), "archive/in/a/4.png")
        self.make("complete", "s3://archive/out")
        (self.local / "4.png").write_bytes((self.local / "0.png").read_bytes())
        self.check("out")

    def test_one_side_in_the_store(self):
        self.make("complete", str(self.out))
        self.assertEqual(self.tree(self.out / "volumes/a"), self.alone("a"))
        self.make("done before", str(self.out))
        one = Volume("b", f"{self.local}/[12].png")
        self.make("complete", "s3://archive/half", one)
        self.assertEqual(sorted(self.tree(self.fetched("half") / "volumes/b")),
                         ["1.tif", "2.tif"])
        one = Volume("c", "s3://archive/in/a/[12].png")
        self.make("complete", "s3://archive/half", one)
        self.assertEqual(sorted(self.tree(self.fetched("half") / "volumes/c")),
                         ["1.tif", "2.tif"])
        one = Volume("d", "s3://archive/in/a/0.png")
        self.make("complete", "s3://archive/half", one)
        self.assertEqual(sorted(self.tree(self.fetched("half") / "volumes/d")), ["0.tif"])

    def test_a_worker_killed_during_the_upload(self):
        put = type(self.store).put_file
        calls = []

        def fails(*words, **more):
            calls.append(1)
            if len(calls) == 2:
                raise OSError("connection lost")
            return put(*words, **more)
        with mock.patch.object(type(self.store), "put_file", fails):
            self.assertIn("connection lost", self.make("again", "s3://archive/cut")["reason"])
        self.assertFalse(self.store.exists("archive/cut/records/pages/a.parquet"))
        with mock.patch.object(scan.Program, "run", autospec=True,
                               side_effect=scan.Program.run) as run:
            self.make("complete", "s3://archive/cut")
        self.check("cut")
        self.assertEqual(run.call_count, 1)
        measured = [row["measured"] for row in self.rows("pages", self.fetched("cut"))]
        self.assertEqual(measured, [None] * 3)  # pages of the first attempt were not made again
        self.assertFalse(self.store.exists("archive/cut/old"))

    def test_without_credentials(self):
        text = self.manifest([("a", "in/a")])
        words = [str(text), "-o", "s3://archive/denied", "--program", scans.SCAN]
        keys = {name: "" for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
        with mock.patch.dict(os.environ, {**keys, "AWS_EC2_METADATA_DISABLED": "true"}):
            self.store.clear_instance_cache()
            with self.assertRaisesRegex(scan.Stop, "--output=s3://archive/denied: .*credentials"):
                main.archive(words)
            self.assertIn("NoCredentialsError",
                          self.make("again", "s3://archive/denied")["reason"])
        self.store.clear_instance_cache()

    def test_nothing_there(self):
        result = self.make("again", "s3://archive/none", Volume("x", "s3://archive/in/none"))
        self.assertIn("there is no such file or folder", result["reason"])
        result = self.make("again", "s3://nowhere/none")
        self.assertIn("bucket does not exist", result["reason"])


if __name__ == "__main__":
    program.main()
