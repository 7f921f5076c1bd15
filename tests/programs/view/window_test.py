# SPDX-License-Identifier: LGPL-2.1-or-later
"""The window of cudascan-view under Xvfb, driven by mouse and keyboard."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

import program
from viewer import SLOPE, VIEW, Folder, Image

if Image:
    from PIL import ImageGrab, features


@unittest.skipUnless(shutil.which("Xvfb") and Image, "xvfb or python3-pil is not installed")
class Display(Folder):
    """A viewer on a screen of its own."""
    SCREEN = "1400x860"
    SLOPE = SLOPE.format(100000).replace("! video", "is-live=true ! video")

    def setUp(self):
        super().setUp()
        read, write = os.pipe()
        self.server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-screen", "0",
                                        self.SCREEN + "x24", "-nolisten",
                                        "tcp"], pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        with os.fdopen(read) as display:
            self.display = ":" + display.readline().strip()
        self.addCleanup(self.server.wait)
        self.addCleanup(self.server.terminate)
        self.environment = {**os.environ, "DISPLAY": self.display, "NO_AT_BRIDGE": "1",
                            "GDK_BACKEND": "x11", "GTK_THEME": "Adwaita",
                            "XDG_CONFIG_HOME": str(self.folder), "GTK_USE_PORTAL": "0",
                            "GSETTINGS_BACKEND": "memory"}

    def start(self, *words, source=("--source", SLOPE), element="cudaautothreshold"):
        process = subprocess.Popen([VIEW, *source, "-e", element, "--screenshot",
                                    self.folder / "window.png", "--stats",
                                    *words], env=self.environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        return process

    def wait_for_window(self, process):
        program.wait_for_handler(process, signal.SIGTERM)
        self.mouse("search", "--sync", "--onlyvisible", "--name", "^cudascan-view$")
        time.sleep(1.5)  # for the first frames

    def mouse(self, *words):
        result = program.run(["xdotool", *words], env=self.environment)
        self.assertEqual(result.returncode, 0, result.stderr)

    def keys(self, *names):
        """Without a window manager, the window has to be told that it has the keyboard."""
        words = [word for name in names for word in ("key", name, "sleep", "0.4")]
        self.mouse("search", "--onlyvisible", "--name", "^cudascan-view$", "windowfocus", "sleep",
                   "0.3", *words)

    def end(self, process, stop=True, said=""):
        if stop:
            process.terminate()
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, err)
        # GTK's own file dialog closes between the press and the release of a key.
        own = [line for line in err.splitlines() if "WIDGET_REALIZED_FOR_EVENT" not in line]
        self.assertNotIn("CRITICAL", "\n".join(own))
        self.assertIn(said, err)
        return json.loads(out.strip().splitlines()[-1])

    def image(self):
        """The screen now, or, if the viewer has ended, what it has saved at the end."""
        saved = self.folder / "window.png"
        picture = Image.open(saved) if saved.exists() else ImageGrab.grab(xdisplay=self.display)
        return picture.convert("L")

    def video(self):
        """The part of the window that shows the frame: on the left, above the plots."""
        image = self.image()
        return image.crop((20, 60, int(image.width * 0.65), int(image.height * 0.7)))

    def shares(self, low, high):
        """The share of pixels with levels from low to high, in the left and the right half of the
        frame without its edges."""
        video = self.video()
        halves = (video.crop((60, 40, video.width // 2 - 20, video.height)),
                  video.crop((video.width // 2 + 40, 40, video.width - 60, video.height)))
        return [sum(half.histogram()[low:high + 1]) / (half.width * half.height)
                for half in halves]


class Window(Display):
    def test_before_and_after_in_a_window(self):
        self.end(self.start("--frames", "60"), stop=False)
        before, after = self.shares(20, 235)
        self.assertGreater(before, 0.5)
        self.assertLess(after, 0.03)

    def test_a_setting_that_is_refused_is_told_and_the_video_goes_on(self):
        process = self.start("--frames", "100", "--do", "1:element=cudanick", "--do", "2:window=8")
        self.assertEqual(self.end(process, False, "window was reset to 67")["element"], "cudanick")

    def test_a_broken_file_is_told_on_standard_error_and_another_one_can_be_opened(self):
        path = self.folder / "broken.png"
        path.write_bytes(b"\x89PNG\r\n\x1a\n and nothing more")
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        process = self.start("--do", f"1.5:open={page}", "--frames", "10", source=(path,))
        self.assertIn("page.png", self.end(process, False, f"{path}: ")["launch"])

    def height_of_controls(self, *words):
        self.end(self.start("--seconds", "1.5", *words, element="cudanick"), stop=False)
        image = self.image()
        side = image.crop((int(image.width * 0.72), 100, int(image.width * 0.97), 780))
        empty = side.getpixel((side.width // 2, side.height - 1))
        return side.point(lambda level: abs(level - empty) > 20 and 255).getbbox()[3]

    def test_controls_are_those_in_use_and_those_that_were_set(self):
        # r counts with sauvola, not with nick.
        few, more = self.height_of_controls(), self.height_of_controls("method=sauvola")
        self.assertGreater(more, few + 20)
        self.assertEqual(self.height_of_controls("r=100"), more)

    def test_closing_by_a_signal(self):
        process = self.start()
        program.wait_for_handler(process, signal.SIGTERM)
        time.sleep(1)
        self.end(process)


class Small(Display):
    """The least size of the window, with many controls."""
    SCREEN = "640x480"

    def test_the_picture_has_most_of_the_width(self):
        for words in (["!", "cudaswofilter", "expression=p.max()", "!", "cudanick"],
                      ["--do", "0.5:window=nonsense"]):
            with self.subTest(words):
                self.end(self.start("--divider", "1", "--seconds", "2", *words,
                                    source=("--source", self.SLOPE.replace("320", "640"))),
                         stop=False)
                image = self.image()
                self.assertEqual(image.size, (640, 480))
                # The slope has the same level in all of a row.
                row = [image.getpixel((x, 220)) for x in range(640)]
                self.assertGreater(row.count(row[100]), 0.55 * 640)


@unittest.skipUnless(Image and features.check("xcb") and shutil.which("xdotool"),
                     "xdotool or python3-pil with XCB is not installed")
class Driven(Display):
    def levels(self):
        """The least and the largest level in the middle column of the frame."""
        video = self.video()
        column = [video.getpixel((video.width // 3, y)) for y in range(40, video.height)]
        return min(column), max(column)

    def test_the_mouse_moves_the_divider(self):
        process = self.start()
        self.wait_for_window(process)
        self.mouse("mousemove", "500", "300", "sleep", "0.2", "mousedown", "1", "sleep", "0.2",
                   "mousemove", "400", "300", "sleep", "0.2", "mousemove", "250", "300", "sleep",
                   "0.3", "mouseup", "1", "sleep", "0.2", "mousemove", "700", "300")
        divider = self.end(process)["divider"]
        self.assertGreater(divider, 0.02)
        self.assertLess(divider, 0.4)

    def test_the_wheel_zooms_and_dragging_moves_the_frame(self):
        process = self.start("--divider", "1")
        self.wait_for_window(process)
        self.mouse("mousemove", "300", "300", "click", "--repeat", "7", "4", "sleep", "0.5")
        near = self.levels()
        self.assertLess(near[1] - near[0], 80)
        self.mouse("mousedown", "1", "sleep", "0.1", "mousemove", "310", "400", "sleep", "0.1",
                   "mousemove", "320", "500", "sleep", "0.1", "mouseup", "1", "sleep", "0.5")
        moved = self.levels()
        self.assertLess(moved[1], near[1] - 5)  # what is above is darker
        self.assertAlmostEqual(moved[1] - moved[0], near[1] - near[0], delta=3)
        self.mouse("click", "--repeat", "20", "5", "sleep", "0.5")
        self.assertLess(max(self.shares(20, 235)), 0.1)
        self.keys("f")
        self.assertGreater(min(self.shares(20, 235)), 0.5)
        self.assertEqual(self.end(process)["divider"], 1)

    def test_keys_fit_zoom_pause_and_step(self):
        process = self.start(source=("--source", "videotestsrc is-live=true pattern=snow ! "
                                     "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1"))
        self.wait_for_window(process)
        self.keys("1")
        self.assertLess(max(self.shares(20, 255)), 0.1)
        self.keys("f", "space")
        pictures = [self.video().tobytes(), self.video().tobytes()]
        self.keys("period")
        pictures.append(self.video().tobytes())
        self.keys("space")
        pictures.append(self.video().tobytes())
        self.assertEqual(pictures[0], pictures[1])
        self.assertEqual(len(set(pictures)), 3)
        self.end(process)

    def test_a_file_is_opened_by_name(self):
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        process = self.start()
        self.wait_for_window(process)
        self.keys("ctrl+o")
        time.sleep(1)
        # A field for the name appears with the first character.
        self.mouse("search", "--onlyvisible", "--name", "^Open$", "windowfocus", "sleep", "0.5",
                   "type", "/")
        time.sleep(0.7)
        self.mouse("type", str(page)[1:])
        self.mouse("sleep", "0.5", "key", "Return", "sleep", "1")
        self.assertIn("page.png", self.end(process)["launch"])

    def test_values_are_typed(self):
        process = self.start(element="cudanick")
        self.wait_for_window(process)
        # From the element to its preset and method, the slider of the window, and its number.
        self.keys("F6", *["Tab"] * 4, "ctrl+a")
        self.mouse("type", "--delay", "300", "31")
        self.keys("Return")
        self.assertIn("cudanick window=31 !", self.end(process)["launch"])

    def test_the_result_is_saved(self):
        process = self.start()
        self.wait_for_window(process)
        self.keys("ctrl+s")
        time.sleep(1)
        self.mouse("search", "--onlyvisible", "--name", "^Save the result$", "windowfocus",
                   "sleep", "0.5", "key", "ctrl+a", "type", str(self.folder / "saved.png"))
        self.mouse("sleep", "0.5", "key", "Return", "sleep", "1")
        self.end(process)
        saved = Image.open(self.folder / "saved.png")
        self.assertEqual(saved.size, (320, 240))
        self.assertEqual(set(saved.convert("L").getdata()), {0, 255})

    def test_it_ends_with_an_open_dialog(self):
        process = self.start()
        self.wait_for_window(process)
        self.keys("ctrl+o")
        time.sleep(1)
        self.mouse("search", "--onlyvisible", "--name", "^Open$", "windowfocus", "sleep", "0.5",
                   "type", "/")
        time.sleep(0.7)
        self.mouse("type", "no/such/file")
        self.mouse("sleep", "0.5", "key", "Return", "sleep", "1")  # GTK says so in another dialog
        process.terminate()
        process.communicate(timeout=60)  # GTK's dialog itself writes warnings
        self.assertEqual(process.returncode, 0)

    def test_a_file_is_dragged_in(self):
        page = self.folder / "page.png"
        Image.new("L", (64, 48), 200).save(page)
        process = self.start("--size", "700x700")
        self.wait_for_window(process)
        other = subprocess.Popen(["/usr/bin/python3", "-c", DRAGGED, page.as_uri()],
                                 env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.mouse("search", "--sync", "--onlyvisible", "--name", "^dragged$", "windowmove", "900",
                   "300", "sleep", "0.5")
        self.mouse("mousemove", "950", "350", "mousedown", "1", "sleep", "0.2", "mousemove", "900",
                   "340", "sleep", "0.2", "mousemove", "500", "330", "sleep", "0.2", "mousemove",
                   "300", "300", "sleep", "0.5", "mousemove", "302", "300", "sleep", "0.5",
                   "mouseup", "1", "sleep", "1.5")
        self.assertIn("page.png", self.end(process)["launch"])

    @unittest.skipIf(list(pathlib.Path("/dev").glob("video*")), "there is a camera")
    def test_without_a_camera_a_test_picture_is_offered(self):
        process = self.start(source=())
        self.wait_for_window(process)
        self.keys("alt+t")
        time.sleep(1)
        stats = self.end(process)
        self.assertIn("videotestsrc", stats["launch"])
        self.assertGreater(stats["frames"], 0)


# A window whose contents are a file that can be dragged.
DRAGGED = """
import sys
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gdk, Gtk
window = Gtk.Window(title="dragged", default_width=200, default_height=200)
box = Gtk.EventBox()
box.drag_source_set(Gdk.ModifierType.BUTTON1_MASK, [], Gdk.DragAction.COPY)
box.drag_source_add_uri_targets()
box.connect("drag-data-get", lambda w, c, data, i, t: data.set_uris([sys.argv[1]]))
window.add(box)
window.show_all()
Gtk.main()
"""


if __name__ == "__main__":
    program.main()
