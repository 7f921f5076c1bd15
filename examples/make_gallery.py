#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the pictures of docs/gallery.md by running the launch lines on that page.

    examples/make_gallery.py BUILD          # from the environment of the build folder

First it makes the inputs, with the other scripts of this folder and from BUILD/sample.png of
./quickstart. Then it runs every launch line of the page unchanged in BUILD/gallery.
`location=vessels.png` becomes docs/gallery/vessels.jpg. An element that the page does not show yet
gets a section at its end, with a first launch line.
"""
import pathlib
import re
import shlex
import subprocess
import sys

from PIL import Image, ImageOps

from elements import elements

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "gallery.md"
# The part of the sample scan with the stain and the fold.
PART = (646, 304, 1006, 604)


def launch_lines(text=None):
    """The lines of the page, or of another text, as lists of words."""
    text = PAGE.read_text(encoding="utf-8") if text is None else text
    return [shlex.split(line) for line in re.findall(r"^    (gst-launch-1\.0 .*)$", text,
                                                     re.MULTILINE)]


def missing_sections():
    """New sections for the elements that are in no line of the page."""
    used = {word for words in launch_lines() for word in words}
    return "".join(f"""
## {name}

![page](gallery/page.jpg) ![what {name} makes of it](gallery/{name}.jpg)

    gst-launch-1.0 filesrc location=page.png ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ! \
{name} ! pngenc snapshot=true ! filesink location={name}.png
""" for name in elements() if name not in used)


def location(words, element):
    """The `location` of filesrc or filesink."""
    rest = words[words.index(element):]
    return next(word.split("=", 1)[1] for word in rest if word.startswith("location="))


def make_inputs(sample, folder):
    """Makes the pictures that the lines read."""
    def run(script, *arguments):
        subprocess.run([sys.executable, str(HERE / script), *map(str, arguments)], check=True)

    run("make_scenes.py", folder / "valley.png", folder / "cells.png", folder / "pixels.png")
    run("make_lines.py", folder)
    page = Image.open(sample).crop(PART)
    page.save(folder / "page.png")
    ImageOps.invert(page).save(folder / "negative.png")
    for name in ("valley", "pixels"):
        image = Image.open(folder / (name + ".png"))
        image.crop((60, 20, 420, min(320, image.height))).save(folder / (name + ".png"))


def main(build):
    folder = build / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    make_inputs(build / "sample.png", folder)
    pictures = PAGE.parent / "gallery"
    pictures.mkdir(exist_ok=True)
    with PAGE.open("a", encoding="utf-8") as page:
        page.write(missing_sections())
    for words in launch_lines():
        subprocess.run([words[0], "-q", *words[1:]], cwd=folder, check=True)
        for name in (location(words, "filesrc"), location(words, "filesink")):
            image = Image.open(folder / name)
            image = image.convert("RGB" if image.mode in ("RGB", "RGBA") else "L")
            image.save(pictures / (pathlib.Path(name).stem + ".jpg"), quality=82, optimize=True)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "build"))
