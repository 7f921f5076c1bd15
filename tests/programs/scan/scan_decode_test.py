# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan --decode: GPUs decode JPEG files."""
import random

import decoding
import program
import scans
from decoding import COUNT, EMULATED, INCOMPLETE, STAND_IN, USUAL


def code_of(data):
    """Where the code of a JPEG with one scan begins and ends."""
    scan = data.index(b"\xff\xda")
    return scan + 2 + int.from_bytes(data[scan + 2:scan + 4], "big"), len(data) - 2


def with_restarts(page, **how):
    """A gray JPEG with a restart after each row of blocks: the rows are encoded one by one."""
    parts = []
    for top in range(0, page.height, 8):
        part = scans.encoded(page.crop((0, top, page.width, top + 8)), "jpeg", **how)
        begin, end = code_of(part)
        parts.append(part[begin:end])
    head = bytearray(part[:begin])
    frame = head.index(b"\xff\xc0")
    head[frame + 5:frame + 7] = page.height.to_bytes(2, "big")
    blocks = (page.width + 7) // 8
    head[frame:frame] = b"\xff\xdd\0\4" + blocks.to_bytes(2, "big")
    for number, code in enumerate(parts[1:]):
        parts[number + 1] = bytes([0xff, 0xd0 + number % 8]) + code
    return bytes(head) + b"".join(parts) + b"\xff\xd9"


class Decode(decoding.Case):
    def setUp(self):
        super().setUp()
        self.page = scans.turned(scans.text_page(260, 340), 2)

    def check_all(self, stats, **decoders):
        self.assertEqual(self.contents(), self.usual("in")[0])
        self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))
        self.assertEqual(stats["decoders"],
                         {name.replace("_", "-"): count for name, count in decoders.items()})

    def test_engines_decode_or_else_kernels_or_else_the_cpu(self):
        for words, told, by, decoders, why in (
                ([], "", "gpu", {"gpu_engines": COUNT}, None),
                (["--jobs=3", "--cuda-device=all"], "", "gpu", {"gpu_engines": COUNT}, None),
                ([], "no-engines", "gpu", {"gpu_kernels": COUNT}, None),
                ([], "engines-refuse", "gpu", {"gpu_kernels": COUNT}, None),
                ([], "engines-fail", "gpu", {"gpu_kernels": COUNT}, None),
                ([], "", "gpu-kernels", {"gpu_kernels": COUNT}, None),
                ([], "no-engines", "gpu-engines", {"cpu": COUNT},
                 "gpu-engines: nvjpegCreateEx: wrong GPU (7)"),
                ([], "engines-refuse kernels-fail", "gpu", {"cpu": COUNT},
                 "gpu-engines: they do not take such pictures; gpu-kernels: "
                 "nvjpegDecodeBatched: execution failed (6)")):
            with self.subTest(told=told, by=by):
                said, stats = self.decode("in", *words, told=told, by=by)
                self.check_all(stats, **decoders)
                self.assertNotIn("nvjpeg", said.lower())
                for page in stats["page_list"]:
                    self.assertEqual(page.get("not_on_gpu"), why)

    def test_verbose_says_what_was_found(self):
        said, _ = self.decode("in", "--verbose", told="no-engines")
        self.assertIn(f"nvJPEG: {STAND_IN}, version 13.0.0", said)
        self.assertEqual(
            said.count("GPU 0: gpu-engines cannot be used: nvjpegCreateEx: wrong GPU (7)"), 1)
        self.assertEqual(said.count("GPU 0: gpu-kernels decode JPEG"), 1)
        self.assertEqual(said.count("decoded by gpu-kernels"), COUNT)
        self.assertNotIn("PreAllocate", said)

    def test_without_nvjpeg_the_cpu_decodes(self):
        for library, why in ((self.folder / "none.so", "cannot open shared object file"),
                             (INCOMPLETE, "has no function nvjpegDecodeBatchedSupported")):
            said, stats = self.decode("in", library=library)
            self.assertRegex(said, "--decode=gpu: nvJPEG cannot be loaded: .*" + why +
                             ".*; the CPU decodes JPEG files")
            self.assertEqual(stats["decoders"], {"cpu": COUNT})
            self.assertEqual(self.contents(), self.usual("in")[0])

    def test_unusual_files_go_to_the_cpu(self):
        rgb = self.page.convert("RGB")
        good = scans.encoded(self.page, "jpeg", dpi=(100, 100), quality=90)
        half = len(good) // 2
        marker = good[:half] + b"\xff\xd3" + good[half:]
        exif = scans.Image.Exif()
        exif[0x0112] = 6
        jpeg = {"dpi": (100, 100), "quality": 90}
        for name, data, why in (
                ("progressive", scans.encoded(rgb, "jpeg", progressive=True, **jpeg),
                 "not baseline"),
                ("cmyk", scans.encoded(rgb.convert("CMYK"), "jpeg", **jpeg),
                 "neither gray nor YCbCr"),
                ("lying", scans.encoded(rgb, "jpeg", exif=exif, **jpeg), "not upright"),
                ("png", scans.encoded(rgb, "png", dpi=(100, 100)),
                 "PNG files are decoded on the CPU"),
                ("cut", good[:-1], "truncated"), ("tail", good + b"\0\0more", None)):
            with self.subTest(name):
                path = self.folder / f"{name}.jpg"
                path.write_bytes(data)
                said, stats = self.decode(path)
                self.assertEqual(stats["page_list"][0].get("not_on_gpu"), why, said)
                self.assertEqual(stats["decoders"], {"cpu" if why else "gpu-engines": 1})
                self.assertEqual(self.contents(), self.usual(path)[0])
        for name, data, why in (("truncated", good[:half], "truncated"),
                                ("marker", marker, "a marker within the picture")):
            path = self.folder / f"{name}.jpg"
            path.write_bytes(data)
            for words in ([], ["--salvage"]):
                with self.subTest(name, words=words):
                    files, said_usually = self.usual(path, *words, status=1)
                    said, stats = self.decode(path, *words, status=1)
                    damage = [line for line in said_usually.splitlines() if "jpg: " in line]
                    self.assertTrue(damage)
                    for line in damage:
                        self.assertIn(line, said.splitlines())
                    self.assertEqual(self.contents(), files)
                    if words:
                        self.assertEqual(stats["page_list"][0]["not_on_gpu"], why)

    def test_damage_within_the_code(self):
        """Bits that are wrong: what libjpeg warns of is found on the GPU, too."""
        small = scans.text_page(185, 168)
        noisy = scans.Image.effect_noise((185, 168), 60)
        jpeg = {"dpi": (100, 100), "quality": 80}
        restarts = with_restarts(small, **jpeg)
        colour = scans.Image.merge("RGB", [noisy, small, small])
        whole = {"gray": scans.encoded(small, "jpeg", **jpeg), "restarts": restarts,
                 "noise": scans.encoded(noisy, "jpeg", **jpeg),
                 "flat": scans.encoded(scans.Image.new("L", (1200, 1600), 140), "jpeg", **jpeg),
                 "optimized": scans.encoded(small, "jpeg", optimize=True, **jpeg),
                 "colour": scans.encoded(colour.convert("RGB"), "jpeg", subsampling=2, **jpeg)}
        rng = random.Random(5)
        for name, data in whole.items():
            self.write(f"damaged/{name}.jpg", data)
            begin, end = code_of(data)
            for number in range(6 if name in ("gray", "restarts", "noise") else 2):
                damaged = bytearray(data)
                damaged[rng.randrange(begin, end)] ^= 1 << rng.randrange(8)
                if number == 0:  # bytes that are left
                    damaged[end:end] = b"\x12\x34"
                self.write(f"damaged/{name}-{number}.jpg", damaged)
        for words in ([], ["--salvage"]):
            usual, said_usually = self.usual("damaged", *words, status=1)
            said, stats = self.decode("damaged", *words, status=1)
            lines = [sorted(line for line in text.splitlines() if ".jpg: " in line)
                     for text in (said_usually, said)]
            self.assertEqual(*lines)
            self.assertGreater(len(lines[0]), 5)
            pages = {page["input"]: page for page in stats["page_list"] if "decoder" in page}
            by_gpu = [name for name, page in pages.items() if page["decoder"] != "cpu"]
            for name in whole:
                self.assertIn(f"damaged/{name}.jpg", by_gpu)
            # Colours are not neutral here: the CPU's luma is made of red, green and blue.
            files = [{name: data for name, data in folder.items() if "colour" not in name}
                     for folder in (self.contents(), usual)]
            self.assertEqual(*files)
        self.assertGreater(len([page for page in pages.values()
                                if page.get("not_on_gpu") == "damaged"]), 5)
        self.assertGreater(len(by_gpu), len(whole))

    def test_damage_that_only_the_decoder_sees(self):
        """The tables make no sense; then the CPU reports it as usual."""
        data = bytearray(scans.encoded(self.page, "jpeg", dpi=(100, 100)))
        at = data.index(b"\xff\xc4") + 5  # the lengths of a Huffman table
        data[at:at + 3] = b"\x09\x09\x09"
        path = self.folder / "table.jpg"
        path.write_bytes(data)
        _, usual = self.usual(path, status=1)
        said, _ = self.decode(path, status=1)
        left_out = [line for line in usual.splitlines() if line.startswith("left out")]
        self.assertEqual([line for line in said.splitlines() if line.startswith("left out")],
                         left_out)

    def test_pages_without_resolution_are_measured_by_their_letters(self):
        """The CPU does that, and decodes the page for it."""
        page = scans.text_page(431, 401)
        self.save(page, "none/page.jpg", quality=90)
        _, stats = self.decode("none")
        self.assertEqual(stats["page_list"][0]["resolution_from"], "estimated from the letters")
        self.assertEqual(stats["decoders"], {"gpu-engines": 1})
        files, _ = self.usual("none")
        self.assertEqual(self.contents(), files)

    def test_a_gpu_that_fails_loses_no_page(self):
        for devices, launch in (("0,1", 1), ("0,1", 9), ("1", 2)):
            with self.subTest(devices=devices, launch=launch):
                said, stats = self.decode("in", "--cuda-device=" + devices, "--jobs=2",
                                          fail=f"1:{launch}")
                self.assertIn("GPU 1 has failed: CUDA: ", said)
                self.assertEqual(self.contents(), self.usual("in")[0])
                self.assertEqual((stats["pages"], stats["failed"]), (COUNT, 0))

    def test_other_outputs_keep_the_cpu(self):
        for words in (["--also=gray.png"], ["--mode=gray"], ["--dewarp"], ["--split=auto"],
                      ["--orientation=auto"]):
            said, stats = self.decode("in/0.jpg", *words)
            self.assertIn("--decode=gpu: is for black and white pages without", said)
            self.assertNotIn("decoders", stats)

    def test_journal(self):
        """Pixels may differ, so pages of the CPU's decoder are made again."""
        self.scan("in", "-o", self.out, *USUAL)
        env = {"CUDASCAN_NVJPEG": STAND_IN}
        result = program.run([EMULATED, *USUAL, "--decode=gpu", "--resume", "in", "-o", self.out],
                             cwd=self.folder, env=env)
        self.assertIn(f"{COUNT} pages were made with other settings", result.stderr)
        result = program.run([EMULATED, *USUAL, "--decode=gpu", "--resume", "in", "-o", self.out],
                             cwd=self.folder, env=env)
        self.assertIn(f"{COUNT} done before", result.stdout + result.stderr)

    def test_errors(self):
        for words, why in ((["--decode=fast"], "must be cpu, gpu, gpu-engines or gpu-kernels"),
                           (["--decode=gpu", "--backend=cpu"], "--backend=cpu does not use a GPU"),
                           (["--decode=gpu", "--scan"], "is for files, not for scanners")):
            inputs = [] if "--scan" in words else ["in"]
            result = program.run([EMULATED, *words, *inputs, "-o", self.out], cwd=self.folder)
            self.assertEqual(result.returncode, 2)
            self.assertIn(words[0] + ": " + why, result.stderr)


if __name__ == "__main__":
    program.main()
