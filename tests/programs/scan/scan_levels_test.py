# SPDX-License-Identifier: LGPL-2.1-or-later
"""PNG and JPEG files that are decoded without libvips, and PNG files that are written: every level
must be right, and what is special or damaged must be treated as libvips treats it."""
import io
import shutil
import struct
import zlib

import program
import scans
from scans import Case, encoded, np

if np is not None:
    from PIL import Image

SIGNATURE = b"\x89PNG\r\n\x1a\n"
KEEP = ["--no-straighten", "--despeckle=0", "--enlarge=no", "--borders=keep"]


def chunk(kind, data=b"", damage=0):
    return (struct.pack(">I", len(data)) + kind + data +
            struct.pack(">I", zlib.crc32(kind + data) ^ damage))


def paeth(left, above, corner):
    """The definition in W3C PNG, 9.4."""
    estimate = left + above - corner
    return min((left, above, corner), key=lambda value: abs(estimate - value))


def filtered(levels, kinds):
    """The bytes of a page of (rows, bytes, samples) whose rows have filters of these kinds."""
    height, width, step = levels.shape
    rows = np.zeros((height + 1, width * step + step), int)
    rows[1:, step:] = levels.reshape(height, -1)
    result = bytearray()
    for y, kind in enumerate(kinds, 1):
        result.append(kind)
        for x in range(step, rows.shape[1]):
            left, above, corner = rows[y][x - step], rows[y - 1][x], rows[y - 1][x - step]
            guess = (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind]
            result.append((rows[y][x] - guess) % 256)
    return bytes(result)


def png(levels, data, before=b"", between=(), after=b"", interlace=0):
    """A file of compressed data, cut at `between`."""
    height, width, step = levels.shape
    head = struct.pack(">IIBBBBB", width, height, 8, 2 if step == 3 else 0, 0, 0, interlace)
    cuts = [0, *between, len(data)]
    parts = b"".join(chunk(b"IDAT", data[a:b]) for a, b in zip(cuts, cuts[1:]))
    return SIGNATURE + chunk(b"IHDR", head) + before + parts + after + chunk(b"IEND")


class Levels(Case):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(5)

    def noise(self, height, width, samples):
        """Levels that change a little and jump sometimes, so that filters overflow."""
        steps = self.rng.integers(-9, 10, (height, width, samples)).cumsum(axis=1)
        jumps = self.rng.integers(0, 256, (height, width, samples))
        return np.where(self.rng.random(steps.shape) < 0.2, jumps, steps % 256).astype(np.uint8)

    def levels(self, data, kind="png"):
        """What the program reads from a file."""
        (self.folder / f"page.{kind}").write_bytes(data)
        self.scan(f"page.{kind}", "-o", "out", "--also=color.png", *KEEP)
        made = self.out / "page.color.png"
        with Image.open(made) as image:
            levels = np.array(image)
        shutil.rmtree(self.out)
        return levels.reshape(*levels.shape[:2], -1)

    def check(self, expected, data, kind="png"):
        np.testing.assert_array_equal(self.levels(data, kind), expected)


class Png(Levels):
    def test_filters(self):
        for height, width, samples in ((70, 61, 1), (33, 40, 3), (32, 1, 1), (1, 150, 1), (5, 8, 3),
                                       (97, 300, 1), (31, 2, 3)):
            for kinds in (range(5), (4,), (3,)):
                with self.subTest(size=(height, width, samples), kinds=kinds):
                    levels = self.noise(height, width, samples)
                    rows = filtered(levels, self.rng.choice(list(kinds), height))
                    self.check(levels, png(levels, zlib.compress(rows), between=(7, 7, 40)))

    def test_other_files(self):
        gray, colour = self.noise(40, 50, 1), self.noise(40, 50, 3)
        data = zlib.compress(filtered(gray, [4] * 40))
        # A window that the distances of the data fit into is left to libpng.
        small = zlib.compressobj(wbits=9)
        for name, levels, file in (
                ("text", gray, png(gray, data, after=chunk(b"tEXt", b"a\0b"))),
                ("gamma", gray, png(gray, data, before=chunk(b"gAMA", struct.pack(">I", 45455)))),
                ("unknown", gray, png(gray, data, before=chunk(b"abCd", b"x"))),
                ("window", gray, png(gray, small.compress(filtered(gray, [1] * 40)) +
                                     small.flush())),
                # libpng accepts it.
                ("wrong sum", gray, png(gray, data[:-1] + bytes([data[-1] ^ 1]))),
                ("interlaced", gray[:1, :1], png(gray[:1, :1], zlib.compress(b"\0" +
                                                 gray[:1, :1].tobytes()), interlace=1)),
                ("palette", colour // 64 * 64, encoded(
                    Image.fromarray(colour // 64 * 64).quantize(256), "png")),
                ("16 bit", gray, encoded(
                    Image.fromarray(gray[:, :, 0].astype(np.uint16) * 257), "png")),
                ("alpha", colour, encoded(Image.fromarray(colour).convert("RGBA"), "png"))):
            with self.subTest(name):
                made = self.levels(file)
                np.testing.assert_array_equal(made // 257 if made.dtype != np.uint8 else made,
                                              levels)

    def test_damage(self):
        levels = self.noise(40, 50, 1)
        rows = filtered(levels, [4] * 40)
        data = zlib.compress(rows)
        good = png(levels, data)
        for name, file in {
                "sum of a chunk": good[:60] + bytes([good[60] ^ 1]) + good[61:],
                "filter": png(levels, zlib.compress(rows[:51] + b"\5" + rows[52:])),
                "few rows": png(levels, zlib.compress(rows[:-60])),
                "truncated": good[:len(good) * 2 // 3],
                "critical": png(levels, data, before=chunk(b"ABCd", b"x")),
        }.items():
            with self.subTest(name):
                (self.folder / "page.png").write_bytes(file)
                said = self.scan("page.png", "-o", "out", *KEEP, status=1)
                self.assertIn("left out: page.png: ", said)

    def test_written(self):
        """Levels, size and resolution of files that are written; noise and repetitions."""
        drawn = np.tile(self.noise(60, 90, 1), (15, 12, 1))
        for name, levels in (("noise", self.noise(900, 1100, 1)), ("drawn", drawn),
                             ("colour", self.noise(70, 61, 3)), ("one", self.noise(1, 1, 1))):
            image = Image.fromarray(levels.squeeze(2) if levels.shape[2] == 1 else levels)
            self.save(image, "in/page.png", dpi=(300, 300))
            with self.subTest(name):
                self.scan("in", "-o", name, "--also=gray.png,color.png", "--format=png", *KEEP)
                for part in ("page.gray.png", "page.png", "page.color.png"):
                    with Image.open(self.folder / name / part) as made:
                        self.assertEqual(made.size, image.size)
                        self.assertEqual(round(made.info["dpi"][0]), 300)
                        self.assertEqual(made.mode == "1", part == "page.png")
                        made.load()
                with Image.open(self.folder / name / "page.color.png") as made:
                    np.testing.assert_array_equal(np.array(made).reshape(levels.shape), levels)
        # The repetitions are found: without them the file would be as large as its levels.
        self.assertLess((self.folder / "drawn/page.gray.png").stat().st_size, drawn.size / 10)

    def test_written_16_bit(self):
        levels = self.rng.integers(0, 65536, (40, 30)).astype(np.uint16)
        self.save(Image.fromarray(levels), "page.png")
        self.scan("page.png", "-o", "out", "--also=gray.png", *KEEP)
        with Image.open(self.out / "page.gray.png") as made:
            np.testing.assert_array_equal(np.array(made), levels)


class Jpeg(Levels):
    """Pillow has the same library below as libvips, so its levels are those that are right."""

    def test_kinds(self):
        for samples, how in ((1, {}), (3, {}), (1, {"progressive": True}), (3, {"subsampling": 0}),
                             (1, {"restart_marker_rows": 1}), (3, {"progressive": True})):
            with self.subTest(samples=samples, how=how):
                levels = self.noise(70, 61, samples)
                image = Image.fromarray(levels.squeeze(2) if samples == 1 else levels)
                data = encoded(image, "jpeg", quality=85, **how)
                with Image.open(io.BytesIO(data)) as right:
                    self.check(np.array(right).reshape(levels.shape), data, "jpg")


if __name__ == "__main__":
    program.main()
