# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-archive --pdf: a PDF of each volume, and what faults leave of it."""
import json
import os
import shutil
import unittest
from unittest import mock

import archives  # first: it may start another Python
import program
import scans

if not archives.WHY_NOT:
    from cudascan_archive import main, manifest, scan
    from cudascan_archive.manifest import BadInput, Volume


class Pdf(archives.OneVolume):
    def setup_of(self, **more):
        return super().setup_of(pdf=True, **more)

    def alone(self, name, *words, source=None):
        """{file: bytes} that cudascan-scan makes of a volume by itself."""
        target = self.folder / "alone"
        shutil.rmtree(target, ignore_errors=True)
        self.scan(source or self.folder / "in" / name, "-o", target / f"{name}.pdf", *archives.KEEP,
                  *words)
        return self.tree(target)

    def check(self, name="a", *words):
        super().check(name, *words)
        self.assertIn(f"{name}.pdf", self.made(name))

    def test_a_volume_is_a_pdf(self):
        result = self.make()
        self.assertEqual((result["pages"], result["failed"]), (2, 0))
        self.check()
        self.assertEqual(sorted(self.made()), ["a.pdf"])
        rows = self.rows("pages")
        self.assertEqual(sorted(row["input"] for row in rows), ["0.png", "1.png"])
        for row in rows:
            self.assertEqual((row["output"], row["bytes"], row["sha256"]),
                             ("a.pdf", len(self.made()["a.pdf"]),
                              archives.sha256(self.out / "volumes/a/a.pdf")))
            self.assertEqual(row["input_sha256"], archives.sha256(self.source / row["input"]))
            self.assertFalse(json.loads(row["measured"])["turned"])
        facts, = self.rows("volumes")
        self.assertEqual((facts["pages"], facts["bytes"]), (2, len(self.made()["a.pdf"])))
        self.assertEqual(list((self.out / "unfinished").iterdir()), [])
        self.make(status="done before")
        self.make(status="done before", trust_sizes=True)

    def test_masters_compression_and_blank_pages(self):
        scans.Image.new("L", (248, 350), 255).save(self.source / "white.png")
        words = ["--also=gray.tif", "--compression=jbig2", "--title=Two leaves", "--blank=aside"]
        options = "--also=gray.tif --compression=jbig2 --title='Two leaves' --blank=aside"
        self.make(Volume("a", str(self.source), options))
        self.check("a", *words)
        self.assertEqual(sorted(self.made()),
                         ["a.pdf", *(f"a.pdf.also/{name}.gray.tif"
                                     for name in ("0", "1", "blank/white"))])
        self.assertEqual([row["input"] for row in self.rows("pages") if row["blank"]],
                         ["white.png"])
        self.make(Volume("b", str(self.source / "white.png"), "--blank=drop"))
        self.assertEqual(self.made("b"), {})
        self.make(Volume("b", str(self.source / "white.png"), "--blank=drop"), "done before")

    @unittest.skipIf(shutil.which("tesseract") is None, "tesseract is not installed")
    def test_text(self):
        self.make(Volume("a", str(self.source), "--ocr=eng"))
        self.check("a", "--ocr=eng")
        without = self.alone("a")
        self.assertNotEqual(self.made(), without)
        self.assertTrue(all("text" in json.loads(row["measured"]) for row in self.rows("pages")))

    def test_what_is_not_as_recorded_is_made_again_and_kept(self):
        self.make()
        path = self.out / "volumes/a/a.pdf"
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + b"!")
        self.assertIn("old/a-1", self.make()["reason"])
        self.check()
        self.assertEqual((self.out / "old/a-1/a.pdf").read_bytes(), whole[:-1] + b"!")
        self.save(archives.text_page(9), "in/a/2.png")
        self.make()
        self.check()
        self.assertEqual(len(self.rows("pages")), 3)

    def test_damaged_pages_and_volumes_without_pages(self):
        (self.source / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nxx")
        result = self.make(status="incomplete")
        self.assertEqual((result["pages"], result["failed"]), (2, 1))
        row = next(row for row in self.rows("pages") if row["input"] == "bad.png")
        self.assertEqual(row["output"], "")
        self.assertIn("header of the PNG file is damaged", row["problem"])
        self.make(status="done before")
        self.make(status="incomplete", retry_failed=True)
        result = self.make(Volume("b", str(self.source / "bad.png")), "again")
        self.assertIn("header of the PNG file is damaged", result["reason"])

    def test_pages_of_a_killed_attempt_stay(self):
        self.volume("a", pages=12)
        setup = self.setup_of()
        maker = scan.Program(setup.program)
        kills = [lambda: maker.child.kill()]
        with mock.patch.object(archives.volume.Maker, "publish", autospec=True,
                               side_effect=archives.volume.Maker.publish) as publish:
            result = archives.volume.make(self.one, setup, maker,
                                          lambda: kills and kills.pop()())
            self.assertEqual((result["status"], publish.call_count), ("again", 0))
            self.assertIn("signal 9", result["reason"])
            result = archives.volume.make(self.one, setup, maker)
        maker.end()
        self.assertEqual(result["status"], "complete", result)
        self.check()
        measured = [row["measured"] for row in self.rows("pages")]
        self.assertEqual(len(measured), 12)
        self.assertIn(None, measured)

    def test_a_worker_killed_at_each_moment(self):
        moment, expected = 0, self.alone("a")
        while self.killed_at(moment, setup := self.setup_of()):
            result = self.make_volume(self.one, setup)
            self.assertIn(result["status"], ("complete", "done before"), (moment, result))
            self.assertEqual(self.made(), expected, moment)
            self.check_records()
            self.assertEqual(len(self.rows("pages")), 2)
            self.assertFalse((self.out / "old").exists())
            shutil.rmtree(self.out)
            moment += 1
        self.assertGreater(moment, 12)

    @unittest.skipIf("SANITIZED" in os.environ, "sanitizers have to be loaded first")
    def test_cudascan_scan_killed_at_each_moment(self):
        moment, killed, expected = 0, True, self.alone("a")
        while killed:
            with mock.patch.dict(os.environ, {"LD_PRELOAD": os.environ["STOP_AT_MODULE"],
                                              "STOP_AT": str(moment)}):
                with mock.patch("shutil.which", return_value=None):  # no setpriv: it stops, too
                    killed = self.make_volume(self.one, self.setup_of())["status"] != "complete"
            if killed:
                self.make(setup=self.setup_of())
            self.assertEqual(self.made(), expected, moment)
            self.check_records()
            self.assertEqual(len(self.rows("pages")), 2)
            shutil.rmtree(self.out)
            moment += 2
        self.assertGreater(moment, 12)

    def test_options(self):
        path = str(self.manifest([("a", "in/a", "--title=x")]))
        self.assertEqual(manifest.read(path, True)[0].options, "--title=x")
        with self.assertRaisesRegex(BadInput, "row 1: --title=x is for PDFs; add --pdf"):
            manifest.read(path)
        begin = [str(self.manifest([("a", "in/a")])), "-o", str(self.out), "--program", scans.SCAN]
        with self.assertRaisesRegex(BadInput, "--options: --ocr=eng is for PDFs; add --pdf"):
            main.archive([*begin, "--options=--ocr=eng"])
        with self.assertRaisesRegex(BadInput, "--format=png: a PDF always uses"):
            main.archive([*begin, "--pdf", "--options=--format=png"])
        main.open_archive(main.parse([*begin, "--pdf"]), "0.1.0")
        with self.assertRaisesRegex(BadInput, "begun with pdf True, not False: give --pdf"):
            main.open_archive(main.parse([*begin, "--resume"]), "0.1.0")
        main.open_archive(main.parse([*begin, "--pdf", "--resume"]), "0.1.0")
        # Of an archive that was begun before there were PDFs.
        (self.out / "archive.json").write_text('{"version": "0.1.0", "options": ""}')
        main.open_archive(main.parse([*begin, "--resume"]), "0.1.0")


if __name__ == "__main__":
    program.main()
