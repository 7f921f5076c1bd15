# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan with scanners: SANE's test backend, directly and through saned."""
import os
import shutil
import signal
import socket
import subprocess
import time
import unittest

import program
import scanners
import scans

SANE_PORT = 6566

class Scanner(scanners.Case):
    def test_devices_are_listed(self):
        self.assertIn("test:0", self.scan("--list-devices"))

    def test_no_scanner(self):
        self.configure(backends="")
        for words in (["--list-devices"], ["--scan", "-o", "out"], ["--scan", "-o", "book.pdf"]):
            self.assertIn("no scanner was found", self.scan(*words, status=3))
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["sane.d"])

    def test_device_that_does_not_exist(self):
        said = self.scan("--device=test:7", "-o", "out", status=3)
        self.assertIn("--device=test:7: cannot be opened", said)

    def test_a_page_from_the_glass(self):
        self.scan("--scan", "-o", "out", "--resolution=100", "--no-straighten")
        self.assertEqual(self.outputs(), ["scan-0001.tif"])
        with scans.Image.open(self.out / "scan-0001.tif") as page:
            self.assertEqual(float(page.tag_v2[282]), 100)
            self.assertEqual(page.size, (314, 393))  # 80 x 100 mm, rounded down
        grid = scans.ink(self.out / "scan-0001.tif")
        self.assertGreater(grid.mean(), 0.3)  # squares of 10 mm in turn
        self.assertLess(grid.mean(), 0.7)

    def test_depths_and_modes_show_the_same(self):
        inks = []
        for words in (["--scan-option=depth=8"], ["--scan-option=depth=16"],
                      ["--scan-option=depth=1"],
                      ["--scan-option=mode=Color"], ["--scan-option=hand-scanner=yes"]):
            self.scan("--scan", "-o", "out", "--no-straighten", "--method=otsu", *words)
            inks.append(scans.ink(self.out / self.outputs()[-1]))
        for ink in inks[:4]:
            self.assertEqual(ink.shape, inks[0].shape)
            self.assertGreater(scans.overlap(ink, inks[0]), 0.98)
        self.assertGreater(inks[4].mean(), 0.2)

    def test_until_the_feeder_is_empty(self):
        said = self.scan("--scan", "-o", "out", "--source=Automatic Document Feeder")
        self.assertIn("10 pages in", said)
        self.assertEqual(self.outputs(), [f"scan-{number:04}.tif" for number in range(1, 11)])

    def test_names_go_on(self):
        self.scan("--scan", "-o", "out")
        self.scan("--scan", "-o", "out", "--source=Automatic Document Feeder", "--pages=3")
        self.assertEqual(self.outputs(), [f"scan-{number:04}.tif" for number in range(1, 5)])

    def test_into_files(self):
        feeder = "--source=Automatic Document Feeder"
        self.scan("--scan", "-o", "book.tif", feeder, "--pages=3")
        with scans.Image.open(self.folder / "book.tif") as book:
            self.assertEqual(book.n_frames, 3)
        self.scan("--scan", "-o", "page.png", feeder)
        self.scan("--scan", "-o", "out", feeder, "--pages=1", "--format=png")
        self.assertEqual((self.folder / "page.png").read_bytes(),
                         (self.out / "scan-0001.png").read_bytes())
        stream = subprocess.run([scans.SCAN, "--backend=cpu", "--scan", "-o", "-", "--format=png"],
                                cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                                env={**os.environ, **self.environment}, timeout=60)
        self.assertEqual(stream.returncode, 0, stream.stderr)
        self.assertTrue(stream.stdout.startswith(b"\x89PNG"))
        said = self.scan("--scan", "-o", "page.png", feeder, "--pages=2", status=2)
        self.assertIn("--pages=2: page.png holds one page", said)

    def test_into_a_pdf(self):
        self.scan("--scan", "-o", "book.pdf", "--source=Automatic Document Feeder")
        self.assertEqual((self.folder / "book.pdf").read_bytes().count(b"CCITTFaxDecode"), 10)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["book.pdf", "sane.d"])

    def test_dry_run(self):
        self.assertIn("out/scan-0001.tif", self.scan("--scan", "-o", "out", "--dry-run"))
        self.assertFalse(self.out.exists())

    def test_options_that_it_does_not_have(self):
        for words, said in (("--source=Tray 9",
                             "--source=Tray 9: test:0 refuses it: must be one of: Flatbed"),
                            ("--scan-option=colour=1",
                             "--scan-option=colour=1: test:0 has no such option"),
                            ("--scan-option=depth=x", "must be a number"),
                            ("--scan-option=hand-scanner=9", "must be yes or no")):
            self.assertIn(said, self.scan("--scan", words, "-o", "out", status=3))

    def test_a_device_that_fails(self):
        for code, said in (("SANE_STATUS_IO_ERROR", "I/O"), ("SANE_STATUS_JAMMED", "jammed"),
                           ("SANE_STATUS_COVER_OPEN", "cover")):
            with self.subTest(code):
                answer = self.scan("--scan", "-o", "out", f"--scan-option=read-return-value={code}",
                                   status=3)
                self.assertIn("page 1 is lost", answer)
                self.assertIn(said, answer)
                self.assertEqual(self.outputs(), [])

    @unittest.skipUnless("CUDASCAN_SANE_DRIVERS" in os.environ, "our own driver was not built")
    def test_a_driver_that_cancels_its_thread_at_work(self):
        self.configure(backends="busy\n")
        drivers = [os.environ["CUDASCAN_SANE_DRIVERS"], os.environ.get("LD_LIBRARY_PATH")]
        self.environment["LD_LIBRARY_PATH"] = ":".join(filter(None, drivers))
        said = self.scan("--scan", "-o", "out", "--pages=3", "--method=otsu", "--no-straighten")
        self.assertIn("3 pages in", said)
        self.assertEqual(len(self.outputs()), 3)

    def end_by(self, number):
        """Ends a run after one or two pages. Returns the exit status and the output."""
        run = subprocess.Popen([scans.SCAN, "--scan", "-o", "out",
                                "--source=Automatic Document Feeder",
                                "--scan-option=read-delay=yes",
                                "--scan-option=read-delay-duration=20000",
                                "--resolution=150", "--backend=cpu"], cwd=self.folder,
                                stderr=subprocess.PIPE,
                               env={**os.environ, **self.environment}, text=True)
        program.wait_until(lambda: list(self.out.glob("*.tif")), "the first page")
        run.send_signal(number)
        said = run.communicate(timeout=20)[1]
        pages = [name for name in self.outputs() if name.endswith(".tif")]
        self.assertTrue(1 <= len(pages) < 10, pages)
        for name in pages:
            scans.ink(self.out / name)
        return run.returncode, said

    def test_interrupted(self):
        self.configure(read_limit="true")
        status, said = self.end_by(signal.SIGINT)
        self.assertEqual(status, 128 + signal.SIGINT, said)
        self.assertIn("interrupted", said)
        self.assertEqual([name for name in self.outputs() if not name.endswith(".tif")], [])

    def test_terminated(self):
        # The driver resets the handler when a page begins. A signal at that moment kills the
        # program.
        self.configure(read_limit="true")
        status, said = self.end_by(signal.SIGTERM)
        self.assertIn(status, (128 + signal.SIGTERM, -signal.SIGTERM), said)


@unittest.skipUnless(shutil.which("saned"), "saned (sane-utils) is not installed")
class Unplugged(Scanner):
    """A network scanner that disappears in the middle of a page."""

    def test_pages_so_far_are_kept(self):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", SANE_PORT))
            except OSError:
                self.skipTest("something listens at SANE's port already")
        (self.config / "saned.conf").write_text("127.0.0.1\nlocalhost\n")
        server = subprocess.Popen(["saned", "-l", "-b", "127.0.0.1", "-e", "-o"],
                                  start_new_session=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL, env={**os.environ, **self.environment})
        self.addCleanup(server.wait)
        self.addCleanup(lambda: server.poll() is not None or os.killpg(server.pid, signal.SIGKILL))
        client = self.folder / "client.d"
        client.mkdir()
        (client / "dll.conf").write_text("net\n")
        (client / "net.conf").write_text("127.0.0.1\n")
        time.sleep(0.3)
        command = [scans.SCAN, "--device=net:127.0.0.1:test:0", "-o", "book.pdf", "--backend=cpu",
                   "--source=Automatic Document Feeder", "--scan-option=read-delay=yes",
                   "--scan-option=read-delay-duration=20000", "--resolution=150", "--timeout=2"]
        run = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True,
                               env={**os.environ, "SANE_CONFIG_DIR": str(client)})
        pages = self.folder / "book.pdf.pages"
        program.wait_until(lambda: run.poll() is not None or len(list(pages.glob("*.tif"))) >= 2,
                           "two pages")
        os.killpg(server.pid, signal.SIGKILL)
        said = run.communicate(timeout=20)[1]
        self.assertEqual(run.returncode, 1, said)
        # SANE's message depends on the moment.
        self.assertRegex(said, r"net:127.0.0.1:test:0: page \d+ is lost: .")
        made = (self.folder / "book.pdf").read_bytes().count(b"CCITTFaxDecode")
        self.assertTrue(2 <= made < 10, made)


for inherited in dir(Scanner):
    if inherited.startswith("test_"):
        setattr(Unplugged, inherited, None)


if __name__ == "__main__":
    program.main()
