# SPDX-License-Identifier: LGPL-2.1-or-later
"""What cudascan-scan records of a run, what --resume compares, and names that come from a list."""
import hashlib
import shutil
import subprocess

import program
import scans


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


class Records(scans.Case):
    def setUp(self):
        super().setUp()
        for number in range(3):
            page = scans.turned(scans.text_page(seed=number), 2)
            self.save(page, f"in/{number}.png")

    def lines(self):
        return [line.split("\t") for line in (self.out / scans.JOURNAL).read_text().splitlines()
                if line]

    def test_statistics(self):
        stats = self.measured("in", "-o", "out", "--method=nick", "--despeckle=5", "--jobs=2")
        version = self.scan("--version").split()[1]
        self.assertEqual(stats["version"], version)
        self.assertEqual(stats["settings"],
                         "--format=tiff --enlarge=auto --orientation=keep --max-angle=10 "
                         "--min-confidence=0 --borders=white --blank=keep --crop=no --method=nick "
                         "--k=-0.19 --r=128 --despeckle=5")
        self.assertEqual(len(stats["page_list"]), 3)
        for page in stats["page_list"]:
            self.assertEqual(page["input_sha256"], sha256(self.folder / page["input"]))
            self.assertEqual(page["output_sha256"], sha256(self.folder / page["output"]))

    def test_breakdown(self):
        stats = self.measured("in", "-o", "out", "--jobs=2")
        times = stats["breakdown_ms"]
        self.assertEqual(list(times), ["read", "decode", "measure", "compute", "text", "encode",
                                       "write", "gpu_busy"])
        self.assertEqual((times["text"], times["gpu_busy"]), (0, 0))
        # The steps of a page do not overlap, and nothing is counted twice.
        names = {"read_ms": ("read", "decode"), "decode_ms": ("decode",),
                 "straighten_ms": ("measure",), "clean_ms": ("compute",),
                 "write_ms": ("encode", "write"), "encode_ms": ("encode",)}
        for name, steps in names.items():
            mean = sum(page[name] for page in stats["page_list"]) / 3
            self.assertAlmostEqual(mean, sum(times[step] for step in steps), 2, name)
            self.assertGreater(mean, 0, name)
        self.assertGreater(stats["cpu_seconds"], 0)
        # Each of the two workers did what the pages list, within the run.
        self.assertLessEqual(3 * sum(times.values()), 2 * 1000 * stats["seconds"] + 1)
        said = self.scan("in", "-o", "again", "--verbose")
        self.assertRegex(said, r"(?m)^ms of a core for a page: read [0-9.]+, decode [0-9.]+, "
                         r"measure [0-9.]+, compute [0-9.]+, encode [0-9.]+, write [0-9.]+; "
                         r"CPU time [0-9.]+$")

    def test_journal(self):
        self.scan("in", "-o", "out")
        settings, *pages = self.lines()
        version = self.scan("--version").split()[1]
        self.assertEqual(settings[0], "settings")
        self.assertEqual(settings[1], hashlib.sha256(settings[3].encode()).hexdigest()[:16])
        self.assertEqual(settings[2], version)
        self.assertIn("--method=binarize", settings[3])
        self.assertEqual(len(pages), 6)
        for _, _, size, _, output, path, read, used, made, state, end in pages:
            self.assertEqual((used, end), (settings[1], "."))
            self.assertIn(state, ("claimed", "made"))
            source = self.folder / "in" / output.replace(".tif", ".png")
            self.assertEqual(path, str(source.resolve()))
            self.assertEqual(int(size), source.stat().st_size)
            self.assertEqual((read, made), (sha256(source), sha256(self.out / output)))

    def test_pages_of_other_settings_are_made_again(self):
        self.scan("in", "-o", "out")
        before = self.contents()
        (self.folder / "in/2.png").rename(self.folder / "2.png")
        other = ["--method=otsu", "--no-straighten"]
        said = self.scan("in", "-o", "out", "--resume", "-n", *other)
        self.assertIn("in/0.png -> out/0-1.tif (made before with other settings: 0.tif)", said)
        stats = self.measured("in", "-o", "out", "--resume", *other)
        self.assertEqual(sorted(page["made_with_other_settings"] for page in stats["page_list"]),
                         [["0.tif"], ["1.tif"]])
        self.assertEqual(self.outputs(), ["0-1.tif", "0.tif", "1-1.tif", "1.tif", "2.tif"])
        for name, data in before.items():
            self.assertEqual((self.out / name).read_bytes(), data)
        shutil.move(self.folder / "2.png", self.folder / "in/2.png")
        said = self.scan("in", "-o", "out", "--resume", *other)
        self.assertIn("1 page was made with other settings and is made again", said)
        self.assertIn("2 done before", said)
        self.assertIn("2-1.tif", self.outputs())
        self.scan("in", "-o", "alone", *other)
        for number in range(3):
            self.assertEqual((self.out / f"{number}-1.tif").read_bytes(),
                             (self.folder / f"alone/{number}.tif").read_bytes())
        for words in ([], other):  # nothing is left to do with either
            said = self.scan("in", "-o", "out", "--resume", *words)
            self.assertIn("3 done before", said)
            self.assertNotIn("other settings", said)

    def test_each_setting_counts_and_others_do_not(self):
        self.scan("in/0.png", "-o", "out")
        for words in (["--method=nick"], ["--method=nick", "--k=-0.1"], ["--despeckle=0"],
                      ["--despeckle=3"], ["--method=nick", "--window=67"],
                      ["--method=sauvola", "--r=64"], ["--orientation=auto"], ["--borders=keep"],
                      ["--no-straighten"],
                      ["--max-angle=5"], ["--min-confidence=0.5"],
                      ["--method=otsu"], ["--method=otsu", "--no-even-light"],
                      ["--resolution=200"], ["--resolution=300"], ["--enlarge=no"], ["--salvage"],
                      ["--blank=drop"], ["--blank=aside"],
                      ["--crop=page"], ["--crop=content"], ["--crop=page", "--margin=3"],
                      ["--page-size=A4"], ["--page-size=210x298"], ["--split=auto"],
                      ["--also=gray.tif"], ["--mode=gray"], ["--dewarp"]):
            said = self.scan("in/0.png", "-o", "out", "--resume", *words)
            self.assertIn("1 page was made with other settings and is made again", said, words)
            self.assertNotIn("other settings",
                             self.scan("in/0.png", "-o", "out", "--resume", *words))
        for words in (["--jobs=1"], ["--verbose"], ["--method=binarize"], ["--enlarge=auto"],
                      ["--no-even-light"], ["--crop=no"], ["--borders=white"], ["--blank=keep"],
                      ["--split=no"]):
            self.assertIn("1 done before", self.scan("in/0.png", "-o", "out", "--resume", *words))

    def test_names_that_another_page_has_got_since(self):
        self.scan("in/0.png", "-o", "out")
        first = (self.out / "0.tif").read_bytes()
        (self.out / "0.tif").unlink()
        self.scan("in/0.png", "-o", "out", "--resume", "--method=otsu", "--no-even-light")
        self.assertEqual(self.outputs(), ["0.tif"])
        self.assertNotEqual((self.out / "0.tif").read_bytes(), first)
        self.scan("in/0.png", "-o", "out", "--resume")
        self.assertEqual(self.outputs(), ["0-1.tif", "0.tif"])
        self.assertEqual((self.out / "0-1.tif").read_bytes(), first)

    def test_finished_files_of_other_settings(self):
        other = ["--method=otsu", "--no-straighten"]
        for kind in ("pdf", "tif"):
            with self.subTest(kind):
                first, second = f"book.{kind}", f"book-1.{kind}"
                self.scan("in", "-o", first)
                before = (self.folder / first).read_bytes()
                mark = self.measured("in", "-o", "out")["settings"]
                self.assertIn(f"cudascan-scan {self.scan('--version').split()[1]} {mark}".encode(),
                              before[:1024])
                said = self.scan("in", "-o", first, "--resume", *other)
                self.assertIn(f"{first} was made with other settings and stays", said)
                self.assertIn(f"3 pages in {second}", said)
                self.scan("in", "-o", f"alone/{first}", *other)
                self.assertEqual((self.folder / second).read_bytes(),
                                 (self.folder / f"alone/{first}").read_bytes())
                self.assertEqual((self.folder / first).read_bytes(), before)
                for words, name in (([], first), (other, second)):
                    said = self.scan("in", "-o", first, "--resume", *words)
                    self.assertIn(f"{name} already exists", said)
                self.assertEqual(len(list(self.folder.glob(f"book*.{kind}*"))), 2)

    def test_unfinished_pdf_of_other_settings(self):
        other = ["--method=otsu", "--no-straighten"]
        for name in ("book.pdf", "book.tif"):
            pages = self.folder / f"{name}.pages"
            self.scan("in", "-o", "out", *other)
            self.out.rename(pages)  # as a run that was killed leaves it
            self.assertEqual(len(list(pages.glob("*.tif"))), 3)
            said = self.scan("in", "-o", name, "--resume")
            self.assertIn("3 pages were made with other settings and are made again", said)
            self.assertFalse(pages.exists())
            self.scan("in", "-o", f"alone/{name}")
            self.assertEqual((self.folder / name).read_bytes(),
                             (self.folder / f"alone/{name}").read_bytes())


class Lists(scans.Case):
    def setUp(self):
        super().setUp()
        self.names = ["b.png", "a b.png", "sub/c.png"]
        for name in self.names:
            self.save(scans.text_page(), name)

    def planned(self, *words, data=None, status=0):
        result = subprocess.run([scans.SCAN, *words, "-o", "out", "-n"], cwd=self.folder,
                                input=data or b"", capture_output=True, timeout=60)
        self.assertEqual(result.returncode, status, result.stderr)
        return [line.split(" -> ")[0] for line in result.stdout.decode().splitlines()]

    def test_one_name_a_line(self):
        (self.folder / "list").write_text("\n".join(["", *self.names, "", ""]))
        self.assertEqual(self.planned("--files-from=list"), self.names)
        self.assertEqual(self.planned("--files-from=list", "b.png"), ["b.png", *self.names])
        (self.folder / "list").write_text("sub\nb.png")
        self.assertEqual(self.planned("--files-from=list"), ["sub/c.png", "b.png"])

    def test_names_that_end_with_nul(self):
        self.save(scans.text_page(), "two\nlines.png")
        (self.folder / "list").write_bytes(b"two\nlines.png\0b.png\0")
        self.scan("--files-from=list", "--null", "-o", "out")
        self.assertEqual(self.outputs(), ["b.tif", "two\nlines.tif"])

    def test_standard_input(self):
        data = "\0".join(self.names).encode()
        self.assertEqual(self.planned("--files-from=-", "--null", data=data), self.names)
        self.assertEqual(self.planned("--files-from=-", data=b"b.png\n"), ["b.png"])

    def test_what_is_wrong(self):
        said = self.scan("--files-from=missing", "-o", "out", status=3)
        self.assertIn("--files-from=missing: No such file or directory", said)
        (self.folder / "list").write_text("\n")
        said = self.scan("--files-from=list", "-o", "out", status=3)
        self.assertIn("--files-from=list: no images found", said)
        said = self.scan("--null", "b.png", "-o", "out", status=2)
        self.assertIn("--null is for --files-from", said)
        said = self.scan("--files-from=-", "-", "-o", "out", status=2)
        self.assertIn("standard input can be read only once", said)
        said = self.scan("--files-from=list", "--scan", "-o", "out", status=2)
        self.assertIn("use either files or a scanner", said)
        (self.folder / "list").write_text("missing.png\n")
        self.assertIn("left out: missing.png", self.scan("--files-from=list", "-o", "out",
                                                         status=1))
        result = subprocess.run([scans.SCAN, "--files-from=-", "-o", "out"], cwd=self.folder,
                                input=b"-\n", capture_output=True, timeout=60)
        self.assertEqual(result.returncode, 3)
        self.assertIn(b"standard input is the list of names", result.stderr)


if __name__ == "__main__":
    program.main()
