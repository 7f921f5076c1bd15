# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan in other programs, as docs/scan-elsewhere.md shows it: paperless-ngx, OCR-D,
scanimage, find."""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import program
import scanners
import scans
from scans import np

EXAMPLES = pathlib.Path(__file__).resolve().parents[3] / "examples/scan"
TEXT_PDF = b"""%PDF-1.4
1 0 obj <</Type /Catalog /Pages 2 0 R>> endobj
2 0 obj <</Type /Pages /Kids [3 0 R] /Count 1>> endobj
3 0 obj <</Type /Page /Parent 2 0 R /MediaBox [0 0 300 200] /Contents 4 0 R
/Resources <</Font <</F <</Type /Font /Subtype /Type1 /BaseFont /Helvetica>>>>>>>> endobj
4 0 obj <</Length 44>> stream
BT /F 24 Tf 50 100 Td (Invoice 4711) Tj ET
endstream endobj
trailer <</Root 1 0 R>>
%%EOF
"""


class Case(scans.Case):
    """With cudascan-scan in the search path."""

    def setUp(self):
        super().setUp()
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "cudascan-scan").symlink_to(pathlib.Path(shutil.which(scans.SCAN)).resolve())
        self.path = {"PATH": f"{tools}:{os.environ['PATH']}"}

    def dark(self, seed=1):
        """A page on paper that is not white."""
        return scans.text_page(seed=seed).point(lambda v: 40 + v * 2 // 3)


class Paperless(Case):
    def consume(self, name, data, **environment):
        """Runs the script as paperless-ngx does.
        @return what it says, and the file after that"""
        source, working = self.folder / "consume/scans" / name, self.folder / "tmp" / name
        for path in (source, working):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        run = subprocess.run(
            [EXAMPLES / "paperless-pre-consume", source], capture_output=True, text=True,
            timeout=60, env={**os.environ, **self.path, "DOCUMENT_SOURCE_PATH": str(source),
                             "DOCUMENT_WORKING_PATH": str(working), "TASK_ID": "7",
                             **environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(source.read_bytes(), data)
        self.assertEqual([path.name for path in working.parent.iterdir()], [name])
        after = working.read_bytes()
        self.assertEqual("was cleaned" in run.stdout, after != data, run.stdout)
        working.unlink()
        return run.stdout + run.stderr, after

    @unittest.skipUnless(shutil.which("pdftotext"), "poppler-utils is not installed")
    def test_pdf(self):
        pages = [self.dark(1), self.dark(2)]
        data = scans.encoded(pages[0], "PDF", save_all=True, append_images=pages[1:])
        said, after = self.consume("two pages.pdf", data)
        self.assertIn("two pages.pdf was cleaned", said)
        self.assertEqual(after.count(b"CCITTFaxDecode"), 2)

    @unittest.skipUnless(shutil.which("pdftotext"), "poppler-utils is not installed")
    def test_pdf_with_text(self):
        self.assertIn("it has text", self.consume("bill.pdf", TEXT_PDF)[0])
        self.assertIn("pdftotext cannot read it", self.consume("bill.pdf", b"%PDF-1.4")[0])

    def test_images(self):
        for name, kind in (("a.PNG", "PNG"), ("b.tif", "TIFF")):
            data = self.consume(name, scans.encoded(self.dark(), kind, dpi=(75, 75)))[1]
            (self.folder / name).write_bytes(data)
            with scans.Image.open(self.folder / name) as page:
                self.assertEqual((page.format, page.mode), (kind, "1"))

    def test_what_stays(self):
        png = scans.encoded(self.dark(), "PNG")
        for name, data, environment, said in (
                ("photo.jpg", scans.encoded(self.dark(), "JPEG"), {}, "only pdf, png and tif"),
                ("half.png", png[:len(png) // 2], {}, "cudascan-scan ended with status 1"),
                ("a.png", png, {"CUDASCAN_ONLY": "*/mail/*"}, "does not match CUDASCAN_ONLY"),
                ("a.png", png, {"CUDASCAN_OPTIONS": "--method=x"}, "ended with status 2"),
                ("white.png", scans.encoded(scans.Image.new("L", (620, 877), 255), "PNG"),
                 {"CUDASCAN_OPTIONS": "--blank=drop"}, "all of its pages are blank")):
            self.assertIn(said, self.consume(name, data, **environment)[0])

    def test_options(self):
        png = scans.encoded(scans.Image.new("L", (300, 300), 200), "PNG")
        after = self.consume("a.png", png, CUDASCAN_ONLY="*/scans/*",
                             CUDASCAN_OPTIONS="--page-size=100x100 --resolution=300")[1]
        (self.folder / "a.png").write_bytes(after)
        with scans.Image.open(self.folder / "a.png") as page:
            self.assertEqual(page.size, (1181, 1181))

    def test_not_from_paperless(self):
        run = program.run([EXAMPLES / "paperless-pre-consume"], env={"DOCUMENT_WORKING_PATH": ""})
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("DOCUMENT_WORKING_PATH", run.stderr)


class Ocrd(Case):
    def test_command(self):
        """The command keeps the size, as ocrd-preprocess-image wants, and the place of the ink."""
        settings = json.loads((EXAMPLES / "ocrd-preprocess-image.json").read_text())
        page = scans.turned(scans.text_page(), 2)
        self.save(page, "in.png", dpi=(300, 300))
        command = settings["command"]
        for pattern, name in (("@INFILE", "in.png"), ("@OUTFILE", "out.png")):
            command = command.replace(pattern, f'"{self.folder / name}"')
        run = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=60,
                             env={**os.environ, **self.path})
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))
        ink = scans.ink(self.folder / "out.png")
        self.assertEqual(ink.shape, (page.height, page.width))
        self.assertGreater(scans.overlap(ink, np.array(page) < 128), 0.8)


class Pipes(scanners.Case, Case):
    def shell(self, line):
        run = subprocess.run(["sh", "-c", line], cwd=self.folder, capture_output=True, text=True,
                             timeout=60, env={**os.environ, **self.path, **self.environment})
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    @unittest.skipUnless(shutil.which("scanimage"), "scanimage (sane-utils) is not installed")
    def test_scanimage(self):
        self.shell("scanimage -d test:0 --resolution=200 --format=pnm |"
                   " cudascan-scan - -o page.tif --resolution=200")
        with scans.Image.open(self.folder / "page.tif") as page:
            self.assertEqual(float(page.tag_v2[282]), 200)
        said = self.shell("scanimage -d test:0 --source='Automatic Document Feeder'"
                          " --batch=scan%03d.pnm --batch-count=3 --batch-print |"
                          " cudascan-scan --files-from=- -o book.pdf")
        self.assertIn("3 pages in", said)

    @unittest.skipUnless(pathlib.Path("/etc/sane.d/test.conf").exists(), "no SANE test.conf")
    def test_lines_of_the_documentation(self):
        text = (EXAMPLES.parents[1] / "docs/scan.md").read_text()
        section = text.split("\n## Scanners\n")[1].split("\n## ")[0]
        lines = [line[4:] for line in section.splitlines() if line.startswith("    ")]
        self.assertGreater(len(lines), 5)
        run = subprocess.run(["sh", "-ec", "\n".join(lines)], cwd=self.folder, text=True,
                             capture_output=True, timeout=60, env={**os.environ, **self.path})
        self.assertEqual(run.returncode, 0, run.stderr)
        for said in ("with 1200 instead of 2400 dpi", "--paper=A4: test:0 scans at most 200 x 200",
                     "3 pages in book.pdf", "feeder jammed; take the paper out"):
            self.assertIn(said, run.stderr)
        self.assertIn("source Flatbed", run.stdout)
        with scans.Image.open(self.folder / "page.png") as page:
            self.assertEqual(page.size, (int(150 / 25.4 * 300), int(200 / 25.4 * 300)))

    def test_find(self):
        for name in ("in/a page.png", "in/b\nb.png"):
            self.save(self.dark(), name)
        said = self.shell("find in -name '*.png' -print0 |"
                          " cudascan-scan --files-from=- --null -o clean/")
        self.assertIn("2 pages in", said)
        self.assertEqual(self.outputs(self.folder / "clean"), ["a page.tif", "b\nb.tif"])


if __name__ == "__main__":
    program.main()
