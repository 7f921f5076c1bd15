# SPDX-License-Identifier: LGPL-2.1-or-later
"""cudascan-view as a user runs it with --picture and without a display."""
import json
import os
import pathlib
import shlex
import signal
import subprocess
import unittest

import program
from viewer import SLOPE, VIEW, Folder, Image, stats_of, view

@unittest.skipIf(Image is None, "python3-pil is not installed")
class Picture(Folder):
    """The view as PNG: 1200 pixels wide for the frame, with a margin of 12."""

    def picture(self, *words):
        path = self.folder / "view.png"
        result = view("--source", SLOPE.format(100), "--picture", path, "--stats", *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return Image.open(path).convert("L"), stats_of(result)

    def gray(self, image, left, right):
        """The share of pixels that are neither black nor white, in a part of the frame without its
        edges."""
        part = image.crop((12 + int(left * 1200) + 8, 40, 12 + int(right * 1200) - 8, 860))
        return sum(part.histogram()[8:248]) / (part.width * part.height)

    def test_before_is_left_of_the_divider_and_after_right_of_it(self):
        image, stats = self.picture("--divider", "0.5", "-e", "cudaautothreshold")
        self.assertGreater(self.gray(image, 0, 0.5), 0.5)
        self.assertLess(self.gray(image, 0.5, 1), 0.02)
        self.assertGreaterEqual(stats["frames"], 5)

    def test_the_divider_at_both_ends(self):
        after, _ = self.picture("--divider", "0", "-e", "cudaautothreshold")
        self.assertLess(self.gray(after, 0, 1), 0.02)
        before, _ = self.picture("--divider", "1", "-e", "cudaautothreshold")
        self.assertGreater(self.gray(before, 0, 1), 0.5)

    def test_properties_and_elements_change_while_it_runs(self):
        image, stats = self.picture("--divider", "0", "--frames", "60", "--do",
                                    "0.2:element=cudaautothreshold", "--do", "0.4:invert=true")
        self.assertEqual(stats["element"], "cudaautothreshold")
        self.assertIn("invert=true", stats["launch"])
        # The slope goes from black at the top to white at the bottom; inverted, it goes from white
        # to black.
        self.assertEqual((image.getpixel((600, 60)), image.getpixel((600, 880))), (255, 0))

    def test_sixteen_bits_and_colour(self):
        for form in ("GRAY16_LE", "I420", "NV12", "P010_10LE"):
            with self.subTest(form):
                image, _ = self.picture("--format", form, "-e", "cudaautothreshold")
                self.assertGreater(self.gray(image, 0, 0.5), 0.5)
                self.assertLess(self.gray(image, 0.5, 1), 0.02)


    def test_pixels_that_are_not_square(self):
        wide = SLOPE.format(100) + ",pixel-aspect-ratio=2/1"
        path = self.folder / "wide.png"
        result = view("--source", wide, "--picture", path, "-e", "cudaautothreshold")
        self.assertEqual(result.returncode, 0, result.stderr)
        square, _ = self.picture("-e", "cudaautothreshold")
        # 1200 pixels for the frame, which is 320x240.
        self.assertEqual(square.height - Image.open(path).height, 900 - 450)

    def test_elements_in_a_row(self):
        image, stats = self.picture("--divider", "0", "-e", "cudaautothreshold", "!",
                                    "cudaautothreshold", "invert=true")
        self.assertEqual(stats["element"], "cudaautothreshold ! cudaautothreshold")
        self.assertEqual((image.getpixel((600, 60)), image.getpixel((600, 880))), (255, 0))
        image, _ = self.picture("--divider", "1", "-e", "cudaautothreshold", "!",
                                "cudaautothreshold", "invert=true")
        self.assertGreater(self.gray(image, 0, 1), 0.5)


class Pausing(Folder):
    """Frames of a moving pattern, saved as they are."""
    PATTERN = "pattern=zone-plate kx2=20 ky2=20 kt=3"
    CAPS = "video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1"

    def run_actions(self, live, *actions):
        words = [word for action in actions for word in ("--do", action)]
        result = view("--source", f"videotestsrc is-live={live} {self.PATTERN} ! {self.CAPS}",
                      "-e", "cudaautothreshold", "apply=false",
                      "--picture", self.folder / "x.png", "--seconds", "2.5", *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def save(self, seconds, name):
        return f"{seconds}:save={self.folder / name}.png"

    def frames(self, names):
        return [list(Image.open(self.folder / f"{name}.png").convert("L").getdata())
                for name in names]

    def numbers(self, names):
        """Which frames of the pattern these are."""
        program.run(["gst-launch-1.0", "videotestsrc", "num-buffers=80", *self.PATTERN.split(), "!",
                     self.CAPS, "!", "pngenc", "!", "multifilesink",
                     f"location={self.folder}/all%02d.png"])
        all_frames = self.frames(f"all{i:02}" for i in range(80))
        return [all_frames.index(frame) for frame in self.frames(names)]

    def test_a_paused_source_keeps_its_frame_until_it_steps(self):
        for live in ("true", "false"):
            with self.subTest(live=live):
                self.run_actions(live, "0.5:pause=true", self.save(0.9, "a"), self.save(1.2, "b"),
                                 "1.3:step=1", self.save(1.6, "c"), "1.7:step=1",
                                 self.save(2, "d"), "2.1:pause=false", self.save(2.4, "e"))
                a, b, c, d, e = self.numbers("abcde")
                self.assertGreater(a, 0)
                self.assertEqual(a, b)
                if live == "false":
                    self.assertEqual((c, d), (a + 1, a + 2))
                self.assertLess(a, c)
                self.assertLess(c, d)
                self.assertLess(d, e)

    def test_settings_show_on_a_paused_frame(self):
        for live in ("true", "false"):
            with self.subTest(live=live):
                self.run_actions(live, "0.5:pause=true", self.save(0.9, "a"), "1:apply=true",
                                 self.save(1.4, "b"), "1.5:invert=true", self.save(1.9, "c"))
                a, b, c = self.frames("abc")
                white = [x for x, y in zip(a, b) if y == 255]
                black = [x for x, y in zip(a, b) if y == 0]
                self.assertEqual(len(white) + len(black), 64 * 48)
                self.assertLess(max(black), min(white))
                self.assertEqual([255 - y for y in b], c)

    def test_elements_that_start_again_continue_where_they_were(self):
        self.run_actions("false", "0.5:pause=true", self.save(0.9, "a"), "1:backend=cpu",
                         self.save(1.6, "b"))
        a, b = self.numbers("ab")
        self.assertGreater(a, 0)
        self.assertEqual(a, b)


class Running(Folder):
    def run_some(self, *words, source=SLOPE.format(10), **more):
        return view("--source", source, "--picture", self.folder / "view.png", "--stats", *words,
                    **more)

    def test_latency_of_a_camera_and_none_of_a_file(self):
        camera = ("videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=320,height=240,"
                  "framerate=20/1 ! identity sleep-time=15000")
        latency = stats_of(self.run_some("--frames", "10", source=camera))["latency_ms"]
        self.assertGreaterEqual(latency["p50"], 15)
        self.assertGreaterEqual(latency["p99"], latency["p50"])
        # A frame of the source, and what a sink allows for processing by default.
        self.assertAlmostEqual(latency["reported"], 1000 / 20 + 20, places=2)
        self.assertIsNone(stats_of(self.run_some())["latency_ms"])

    def test_the_launch_line_runs(self):
        result = self.run_some("-e", "cudaswofilter", "operator=rank", "percentile=30",
                               "shape=010;111;010")
        line = stats_of(result)["launch"]
        self.assertIn("operator=rank", line)
        words = shlex.split(line.replace("autovideosink", "fakesink"))
        self.assertEqual(words[0], "gst-launch-1.0")
        again = program.run(words)
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_only_what_differs_from_the_defaults_is_in_the_line(self):
        line = stats_of(self.run_some("-e", "cudanick", "window=31"))["launch"]
        self.assertIn("! cudanick window=31 !", line)

    def line_after(self, *actions, element="cudanick"):
        """The elements of the launch line after things done while it runs."""
        words = [word for i, action in enumerate(actions) for word in
                 ("--do", f"{0.3 + 0.2 * i:.1f}:{action}")]
        result = self.run_some("-e", element, *words, "--frames", "20", source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")
        line = stats_of(result)["launch"]
        return line.split("format=GRAY8 ! ")[1].split(" ! videoconvert")[0]

    def test_a_reset_setting_is_that_of_a_new_element(self):
        # k has another default for each method.
        self.assertEqual(self.line_after("k=0.3", "window=31", "reset=window", "reset=k",
                                         "method=wolf"), "cudanick method=wolf")
        self.assertEqual(self.line_after("window=31", "window=67"), "cudanick")

    def test_one_setting_implies_another(self):
        self.assertEqual(
            self.line_after("expression=p.max()", "operator=median", element="cudaswofilter"),
            "cudaswofilter 'expression=p.max()' operator=median")
        self.assertEqual(
            self.line_after("operator=median", "expression=p.max()", element="cudaswofilter"),
            "cudaswofilter 'expression=p.max()'")

    def test_places_and_names_that_do_not_exist(self):
        result = self.run_some("--do", "0.3:2.window=3", "--do", "0.3:3.element=cudanick", "--do",
                               "0.3:remove=1", "--do", "0.3:reset=no", "--do", "0.3:preset=no")
        self.assertEqual(result.returncode, 0, result.stderr)
        for sentence in ("there is no element 2", "there is no element 3",
                         "element 1 cannot be removed", "reset=no: cudabinarize has no such",
                         "preset=no: cudabinarize has no such preset"):
            self.assertIn(sentence, result.stderr)

    def test_presets(self):
        self.assertEqual(self.line_after("invert=true", "preset=Book at 300 dpi"),
                         "cudanick method=wolf window=51 k=0.31")

    def test_elements_are_added_changed_and_removed(self):
        self.assertEqual(
            self.line_after("add=cudaequalize", "2.element=cudaswofilter", "2.operator=min",
                            "1.window=31", "add=cudabinarize", "remove=1"),
            "cudaswofilter operator=min ! cudabinarize")
        self.assertEqual(self.line_after("window=31", "element=cudaequalize", "element=cudanick"),
                         "cudanick window=31")

    def test_settings_are_saved_and_used_again(self):
        path = self.folder / "mine.cudascan"
        chain = ("cudaswofilter operator=rank percentile=30 'shape=010;111;010' ! "
                 "cudanick 'window=31'")
        saved = self.run_some("-e", *shlex.split(chain), "--do", f"0.3:save={path}")
        self.assertEqual(saved.returncode, 0, saved.stderr)
        again = self.run_some(path)
        self.assertEqual(stats_of(again)["launch"], stats_of(saved)["launch"])
        self.assertIn(f"! {chain.replace(chr(39) + 'window=31' + chr(39), 'window=31')} !",
                      stats_of(saved)["launch"])

    def test_a_setting_that_the_element_refuses_is_taken_back(self):
        result = self.run_some("-e", "cudanick", "--frames", "40", "--do", "0.1:window=30",
                               source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0)
        self.assertIn("window = 30: must be an odd number", result.stderr)
        self.assertIn("window was reset to 67", result.stderr)
        self.assertNotIn("window=30", stats_of(result)["launch"])

    def test_a_property_that_counts_from_the_start_on_starts_it_again(self):
        result = self.run_some("--frames", "20", "--do", "0.5:backend=cpu", "--do",
                               "0.7:n-threads=1", source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("backend=cpu", stats_of(result)["launch"])
        self.assertGreaterEqual(stats_of(result)["frames"], 20)

    def test_another_source_is_opened(self):
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        result = self.run_some("--do", f"0.5:open={page}", "--do", "0.8:open=nothing.png",
                               "--frames", "30", source=SLOPE.format(2000))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "cudascan-view: nothing.png: file not found\n")
        self.assertIn(f"filesrc location={page}", stats_of(result)["launch"])

    def test_a_source_that_ends_starts_anew(self):
        self.assertGreaterEqual(stats_of(self.run_some("--frames", "35"))["frames"], 35)

    def test_a_source_that_cannot_be_sought_is_opened_anew(self):
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        source = (f"multifilesrc location={page} num-buffers=4 "
                  "caps=image/png,framerate=30/1 ! decodebin")
        result = self.run_some("--frames", "20", source=source)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertGreaterEqual(stats_of(result)["frames"], 20)

    def test_it_ends_on_a_signal(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            process = subprocess.Popen([VIEW, "--test", "ball", "--picture", self.folder / "no.png",
                                        "--seconds", "60"],
                                       env={**os.environ, "DISPLAY": ""})
            program.wait_for_handler(process, number)
            process.send_signal(number)
            self.assertEqual(process.wait(10), 0)


class Refusals(Folder):
    def refused(self, status, sentence, *words):
        result = view(*words)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(sentence, result.stderr)

    def test_what_makes_no_sense_is_told(self):
        picture = ["--picture", self.folder / "x.png"]
        test = ["--test", "ball", *picture]
        for status, sentence, *words in (
                (1, "nothing.png: file not found", *picture, "--frames", "1", "--source", "",
                 self.folder / "nothing.png"),
                (2, "use only one of FILE", *test, "--gige", "x"),
                (2, "element=cudanone: must be one of cudabinarize", *test, "-e", "cudanone"),
                (2, "windows=3: cudabinarize has no such property", *test, "windows=3"),
                (2, "level=none: must be one of fast, sized", *test, "level=none"),
                (2, "smoothing=much: must be a number from 0 to 0.999\n", *test, "smoothing=much"),
                (2, "after ! there must be the name", *test, "!"),
                (2, "element=cudanone", *test, "!", "cudanone"),
                (2, "no element \"nonsense\"", *picture, "--source", "nonsense"),
                (2, "--size 600x400: must be WIDTHxHEIGHT", *test, "--size", "600x400"),
                (2, "--divider must be from 0 to 1", *test, "-d", "2"),
                (2, "--do soon: must be SECONDS:NAME=VALUE", *test, "--do", "soon"),
                (2, "GREY: unknown video format", *test, "-f", "GREY"),
                (2, "--nonsense", "--nonsense"),
                (1, "there is no display; --picture", "--test", "ball"),
                (1, "", *picture, "--camera", "/dev/video99"),
                (1, "the picture cannot be written", "--test", "ball", "--picture",
                 self.folder / "no" / "x.png")):
            with self.subTest(words[-1]):
                self.refused(status, sentence, *words)

    def test_a_source_without_a_picture(self):
        result = view("--source", SLOPE.format(0), "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "cudascan-view: The source contains no picture.\n")

    def test_a_file_that_is_no_picture(self):
        path = self.folder / "broken.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
        result = view(path, "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith(f"cudascan-view: {path}: "), result.stderr)

    @unittest.skipIf(list(pathlib.Path("/dev").glob("video*")), "there is a camera")
    def test_no_camera_at_all(self):
        result = view("--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no /dev/video*", result.stderr)
        self.assertIn("--test", result.stderr)

    def test_files_of_settings(self):
        path = self.folder / "mine.cudascan"
        for text, why in (("", "contains no element"), ("[nick]\n", "unknown group [nick]"),
                          ("[element 1]\nwindow=3\n", "has no name"), ("window", "mine.cudascan")):
            path.write_text(text)
            result = view(path, "--test", "ball", "--picture", self.folder / "x.png")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"{path}: ", result.stderr)
            self.assertIn(why, result.stderr)
        path.write_text("[element 1]\nname=cudanick\n")
        result = view(path, "-e", "cudanick", "--test", "ball", "--picture", self.folder / "x.png")
        self.assertEqual(result.returncode, 2)
        self.assertIn("either a file of settings or elements", result.stderr)


if __name__ == "__main__":
    program.main()
