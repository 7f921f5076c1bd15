# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-scan --decode=gpu: GPUs decode JPEG 2000 and TIFF files."""
import random
import shutil
import struct
import zlib

import decoding
import program
import scans
from decoding import CODEC, CODEC_INCOMPLETE, CODEC_OLD

GPU, CPU = "gpu-nvimagecodec", "cpu"
TIFF = {"dpi": (100, 100), "compression": "tiff_lzw"}
DEFLATE = {**TIFF, "compression": "tiff_adobe_deflate"}


def wide(page):
    """The page with 16 bits a sample, the lower ones used."""
    return scans.Image.fromarray(scans.np.asarray(page).astype("uint16") * 257 ^ 3)


def tiff(page, tags=None, rows=400, **how):
    """@param tags  their numbers and values
    @param rows  of a strip"""
    row = page.width * {"L": 1, "RGB": 3}.get(page.mode, 2)
    return scans.encoded(page, "tiff", tiffinfo=tags or {}, strip_size=rows * row,
                         **{**TIFF, **how})


def jp2(page, **how):
    return scans.encoded(page, "jpeg2000", **how)


class Codecs(decoding.Case):
    count = 0

    def setUp(self):
        super().setUp()
        self.page = scans.turned(scans.text_page(260, 340), 2)
        hue = [self.page.point(lambda v, k=k: min(255, v + k)) for k in (0, 20, 60)]
        self.rgb = scans.Image.merge("RGB", hue)

    def check(self, files, *words, by=GPU, why=None, **more):
        """Files with the pages of the CPU, each decoded by `by`."""
        shutil.rmtree(self.folder / "pages", ignore_errors=True)
        for name, data in files.items():
            self.write(f"pages/{name}", data)
        said, stats = self.decode("pages", *words, **more)
        self.assertEqual(self.contents(), self.usual("pages", *words)[0])
        self.assertEqual((stats["pages"], stats["failed"]), (len(files), 0), said)
        for page in stats["page_list"]:
            with self.subTest(page["input"]):
                self.assertEqual((page["decoder"], page.get("not_on_gpu")), (by, why))
        return said, stats

    def good(self):
        return {"gray.jp2": jp2(self.page), "deflate.tif": tiff(self.page, **DEFLATE),
                "lzw.tif": tiff(self.page)}

    def test_usual_files_are_decoded_on_the_gpu(self):
        page = self.page
        self.check({**self.good(),
                    "lossy.jp2": jp2(page, irreversible=True, quality_layers=[8]),
                    "tiles.jp2": jp2(page, tile_size=(128, 128)),
                    "code.j2k": jp2(page, no_jp2=True),
                    "gray16.jp2": jp2(wide(page)), "rgb.jp2": jp2(self.rgb),
                    "predictor.tif": tiff(page, {317: 2}), "strips.tif": tiff(page, rows=7),
                    "predictor-deflate.tif": tiff(page, {317: 2}, 16, **DEFLATE),
                    "gray16.tif": tiff(wide(page)),
                    "gray16-deflate.tif": tiff(wide(page), {317: 2}, 50, **DEFLATE),
                    "rgb.tif": tiff(self.rgb, {317: 2}),
                    "rgb-deflate.tif": tiff(self.rgb, {317: 2}, **DEFLATE)}, "--jobs=3")

    def test_pages_without_resolution_are_measured_without_decoding_them_again(self):
        page = scans.text_page(431, 401)
        _, stats = self.check({"page.jp2": jp2(page)})
        usual = stats["page_list"][0]
        self.assertEqual(usual["resolution_from"], "estimated from the letters")
        _, stats = self.decode("pages", told="larger")
        self.assertGreater(stats["page_list"][0]["resolution"], usual["resolution"])

    def test_other_files_are_decoded_on_the_cpu(self):
        page, rgb = self.page, self.rgb
        binary = page.point(lambda v: 255 * (v > 128)).convert("1")
        alpha = page.copy()
        alpha.putalpha(page)
        two = scans.encoded(page, "tiff", save_all=True, append_images=[page], **TIFF)
        for name, data, why in (
                ("alpha.jp2", jp2(rgb.convert("RGBA")), "colours other than gray and RGB"),
                ("raw.tif", tiff(page, compression="raw"), "not compressed"),
                ("bw.tif", tiff(binary), "neither 8 nor 16 bits"),
                ("g4.tif", tiff(binary, compression="group4"), "neither LZW nor Deflate"),
                ("jpeg.tif", tiff(page, compression="jpeg"), "neither LZW nor Deflate"),
                ("white.tif", tiff(page, {262: 0}), "neither gray with 0 = black nor RGB"),
                ("palette.tif", tiff(rgb.quantize(16)), "neither gray with 0 = black nor RGB"),
                ("turned.tif", tiff(page, {274: 6}), "not upright"),
                ("alpha.tif", tiff(alpha), "neither gray with 0 = black nor RGB"),
                ("two.tif", two, "several pages"),
                ("page.png", scans.encoded(page, "png", dpi=(100, 100)),
                 "PNG files are decoded on the CPU")):
            with self.subTest(name):
                self.write(name, data)
                said, stats = self.decode(name)
                self.assertEqual(self.contents(), self.usual(name)[0])
                for made in stats["page_list"]:
                    self.assertEqual((made["decoder"], made.get("not_on_gpu")), (CPU, why), said)

    def test_what_the_library_refuses_is_decoded_on_the_cpu(self):
        for told, why in (
                ("no-decoder", "nvimgcodecDecoderCreate: execution failed (6)"),
                ("refuse", "no decoder for this format; is its library installed? (11)"),
                ("page-fails", "failed (3)"),
                ("decode-fails", "nvimgcodecDecoderDecode: execution failed (6)"),
                ("wrong-size", "it reads another size: 261x340")):
            with self.subTest(told):
                self.check(self.good(), told=told, by=CPU, why=why)

    def test_wrong_pixels_are_found_by_the_checksums_of_deflate(self):
        for name, page in (("gray.tif", self.page), ("wide.tif", wide(self.page)),
                           ("rgb.tif", self.rgb)):
            for tags in ({}, {317: 2}):
                self.check({name: tiff(page, tags, 30, **DEFLATE)}, told="wrong-pixel", by=CPU,
                           why="damaged")

    def check_damaged(self, name, data, why):
        """Damage is reported, and pages are salvaged, as on the CPU."""
        self.write(name, data)
        for words in ([], ["--salvage"]):
            files, said_usually = self.usual(name, *words, status=1)
            said, stats = self.decode(name, *words, status=1)
            lines = [[line for line in text.splitlines() if name + ": " in line]
                     for text in (said_usually, said)]
            self.assertEqual(*lines)
            self.assertEqual(self.contents(), files)
            for page in stats["page_list"] if words else []:
                self.assertEqual(page.get("not_on_gpu"), why)

    def test_damaged_files_are_decoded_on_the_cpu(self):
        jpeg2000 = jp2(self.page, tile_size=(128, 128))
        lzw, deflate = tiff(self.page, rows=50), bytearray(tiff(self.page, rows=50, **DEFLATE))
        start, at = jpeg2000.index(b"\xff\x4f\xff\x51"), len(jpeg2000) // 2
        for name, data, why in (
                ("cut.jp2", jpeg2000[:at], "truncated"),
                ("cut.j2k", jpeg2000[start:][:at], "truncated"),
                ("strip.tif", lzw[:60] + bytes(20) + lzw[80:], "unusual or damaged LZW")):
            with self.subTest(name):
                self.check_damaged(name, data, why)
        deflate[len(deflate) // 3] ^= 4
        with self.subTest("deflate"):
            self.check_damaged("bits.tif", bytes(deflate), "failed (3)")

    def test_code_of_jpeg2000_is_looked_through(self):
        """What OpenJPEG might accept: the page is the same, and the CPU decodes it."""
        whole = jp2(self.page, tile_size=(128, 128), no_jp2=True)
        part = whole.index(b"\xff\x90")
        length = struct.unpack(">I", whole[part + 6:part + 10])[0]
        marker = bytearray(whole)
        marker[part + length - 40:part + length - 38] = b"\xff\xa0"
        for name, data, why in (
                ("marker", bytes(marker), "a marker within the picture"),
                ("end", whole[:-2], "truncated"),
                ("tile", whole[:part] + whole[part + length:], "a tile is missing"),
                ("siz", whole[:6] + b"\x40" + whole[7:], "extensions of JPEG 2000")):
            with self.subTest(name):
                self.write(f"{name}.j2k", data)
                _, stats = self.decode(f"{name}.j2k", "--salvage", status=None)
                for page in stats["page_list"]:
                    if "decoder" in page:
                        self.assertEqual(page.get("not_on_gpu"), why)

    def test_boxes_of_jpeg2000_may_be_nested_as_deeply_as_the_file_is_long(self):
        depth = 500_000
        nested = b"".join(struct.pack(">I4s", 8 * level, b"jp2h") for level in range(depth, 0, -1))
        data = jp2(self.page)
        begin = data.index(b"jp2h") - 4
        end = begin + struct.unpack(">I", data[begin:begin + 4])[0]
        header = data[begin + 8:end] + nested
        data = (data[:begin] + struct.pack(">I4s", 8 + len(header), b"jp2h") + header +
                data[end:])
        self.check({"nested.jp2": data}, by=CPU, why="boxes in boxes")

    def test_wrong_bytes(self):
        """What is reported and salvaged is the same; large pages would take too long here."""
        rng = random.Random(3)
        for name, data in self.good().items():
            begin, end = 8, struct.unpack("<I", data[4:8])[0]  # the directory
            if "jp2" in name:
                begin, end = data.index(b"\xff\x52"), len(data)
            for number in range(16):
                damaged = bytearray(data)
                for _ in range(1 + number % 3):
                    damaged[rng.randrange(begin, end)] = rng.randrange(256)
                self.write(f"noise/{number}-{name}", damaged)
        usual, said_usually = self.usual("noise", "--salvage", status=None)
        said, stats = self.decode("noise", "--salvage", status=None)
        lines = [sorted(line for line in text.splitlines() if ".jp2: " in line or ".tif: " in line)
                 for text in (said_usually, said)]
        self.assertEqual(*lines)
        self.assertGreater(len(lines[0]), 12)
        self.assertEqual(self.contents(), usual)

    def test_a_gpu_that_fails_loses_no_page(self):
        files = {f"{number}-{name}": data for name, data in self.good().items()
                 for number in range(2)}
        for name, data in files.items():
            self.write(f"pages/{name}", data)
        for devices in ("0,1", "1"):
            for how in ({"told": "gpu-1-fails"}, {"fail": "1:4"}):
                said, stats = self.decode("pages", "--cuda-device=" + devices, "--jobs=2", **how)
                self.assertIn("GPU 1 has failed: CUDA: ", said)
                self.assertEqual(self.contents(), self.usual("pages")[0])
                self.assertEqual((stats["pages"], stats["failed"]), (len(files), 0))

    def test_without_the_library_the_cpu_decodes(self):
        for codec, told, why in (
                (self.folder / "none.so", "", "cannot open shared object file"),
                (CODEC_INCOMPLETE, "", "has no function nvimgcodecFutureGetProcessingStatus"),
                (CODEC_OLD, "", "is version 0.8; 0.9 is needed"),
                (CODEC, "no-instance", r"nvimgcodecInstanceCreate: execution failed \(6\)")):
            said, _ = self.check({"gray.jp2": jp2(self.page)}, "--verbose", codec=codec, told=told,
                                 by=CPU, why="JPEG 2000 files are decoded on the CPU")
            self.assertRegex(said, "--decode=gpu: nvImageCodec cannot be loaded: .*" + why +
                             ".*; the CPU decodes JPEG 2000 and TIFF files")
            said, _ = self.decode("pages", codec=codec, told=told)
            self.assertNotIn("nvImageCodec", said)

    def test_only_decode_gpu_uses_it(self):
        self.write("gray.jp2", jp2(self.page))
        for by in ("gpu-engines", "gpu-kernels"):
            _, stats = self.decode("gray.jp2", by=by)
            self.assertEqual(stats["page_list"][0]["not_on_gpu"],
                             "JPEG 2000 files are decoded on the CPU")

    def test_verbose_says_what_was_found(self):
        said, _ = self.check(self.good(), "--verbose")
        self.assertIn(f"nvImageCodec: {CODEC}, version 0.9.0", said)
        self.assertEqual(said.count("nvImageCodec: a decoder"), 1)
        self.assertEqual(said.count("decoded by " + GPU), 3)

    def test_checksum(self):
        """The strips of the test are those of zlib."""
        data = tiff(self.page, **DEFLATE)
        self.assertIn(zlib.adler32(self.page.tobytes()).to_bytes(4, "big"), data)


if __name__ == "__main__":
    program.main()
