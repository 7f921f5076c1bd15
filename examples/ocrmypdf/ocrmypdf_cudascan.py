# SPDX-License-Identifier: LGPL-2.1-or-later
"""A plugin of OCRmyPDF: cudascan-scan makes pages clean and black and white, for Tesseract, for the
PDF, or for both. It does nothing unless --cudascan is given. See docs/scan-elsewhere.md.

OCRmyPDF puts the words where Tesseract has seen them, so a page must keep its size and must not be
turned here. Its own --deskew and --rotate-pages do that before.
"""
import functools
import io
import os
import pathlib
import shlex
import shutil
import subprocess

from ocrmypdf import hookimpl
from ocrmypdf.exceptions import BadArgsError, MissingDependencyError, SubprocessOutputError
from PIL import Image

PROGRAM = "cudascan-scan"
# A process for each page: it has no time to start a GPU. The pages are the same. OCRmyPDF
# already works on several pages at a time.
ALWAYS = ("--backend=cpu", "--jobs=1", "--quiet")
# These are given last, so that they count. Versions that lack one do not do what it prevents.
KEEP_PLACE = ("--no-straighten", "--orientation=keep", "--crop=no", "--blank=keep", "--enlarge=no")
MOVES = ("crop", "margin", "page-size", "orientation", "split", "dewarp", "enlarge", "blank",
         "output", "format", "also", "mode")


def setting(options, name):
    """The value of one of our options, or None. Callers of the API may leave all of them out."""
    return getattr(options, "cudascan" + name, None)


@hookimpl
def add_options(parser):
    group = parser.add_argument_group(
        "cudascan", "Clean, black and white pages by cudascan-scan")
    group.add_argument(
        "--cudascan", choices=("ocr", "page", "both"),
        help="Clean what is recognized (ocr), the visible page (page), or both. The visible page "
             "becomes black and white; OCRmyPDF draws it only with --force-ocr, --deskew or the "
             "like")
    group.add_argument(
        "--cudascan-method", metavar="METHOD",
        help="How pages become black and white, a --method of cudascan-scan; binarize")
    group.add_argument(
        "--cudascan-options", metavar="TEXT",
        help="More options of cudascan-scan, such as \"--despeckle=0 --borders=keep\"")
    group.add_argument(
        "--cudascan-program", metavar="PATH", help=f"The program; {PROGRAM}")


def program_of(options):
    """The path of cudascan-scan.
    @throws MissingDependencyError"""
    name = setting(options, "_program") or PROGRAM
    path = shutil.which(os.path.expanduser(name))
    if path is None:
        raise MissingDependencyError(
            f"--cudascan: the program {name} was not found. Install the package cudascan-scan, or "
            "name the program with --cudascan-program=PATH")
    return path


@functools.lru_cache(maxsize=None)
def keep_place(program):
    """The options of KEEP_PLACE that this version has."""
    known = subprocess.run([program, "--help"], stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, check=False).stdout
    return tuple(option for option in KEEP_PLACE if option.partition("=")[0] in known)


def more_options(options):
    """What --cudascan-options says, as words.
    @throws BadArgsError"""
    try:
        words = shlex.split(setting(options, "_options") or "")
    except ValueError as error:
        raise BadArgsError(f"--cudascan-options: {error}") from error
    for word in words:
        name = word.partition("=")[0]
        if not name.startswith("--"):
            raise BadArgsError(f"--cudascan-options: {word}: must be options such as --despeckle=0")
        if name[2:] in MOVES:
            raise BadArgsError(
                f"--cudascan-options: {word}: the words would no longer be where the page shows "
                "them; OCRmyPDF has --deskew and --rotate-pages")
    return words


@hookimpl
def check_options(options):
    what = setting(options, "")
    if what is None:
        for name in ("_method", "_options", "_program"):
            if setting(options, name):
                raise BadArgsError(f"--cudascan{name.replace('_', '-')} needs --cudascan: add "
                                   "--cudascan=ocr, page or both")
        return
    if what not in ("ocr", "page", "both"):
        raise BadArgsError(f"--cudascan={what}: must be ocr, page or both")
    if what != "ocr" and getattr(options, "lossless_reconstruction", False):
        raise BadArgsError(
            f"--cudascan={what}: OCRmyPDF keeps the pages as they are unless it has to draw them. "
            "Add --force-ocr, or --deskew; or use --cudascan=ocr")
    # The program itself checks the method and the other options, on a white page.
    clean(options, b"P5\n8 8\n255\n" + b"\xff" * 64, 300)


def clean(options, data, dpi, kind="png"):
    """Runs the program on one page.
    @param data  the page as a file
    @param dpi   its resolution if the file does not state one
    @return the cleaned page as a file of the kind"""
    program = program_of(options)
    command = [program, "-", "-o", "-", f"--format={kind}", f"--resolution={dpi:g}", *ALWAYS,
               f"--method={setting(options, '_method') or 'binarize'}", *more_options(options),
               *keep_place(program)]
    run = subprocess.run(command, input=data, capture_output=True, check=False)
    if run.returncode == 2:
        raise BadArgsError(f"--cudascan: {run.stderr.decode(errors='replace').strip()}")
    if run.returncode != 0 or not run.stdout:
        raise SubprocessOutputError(
            f"{PROGRAM} ended with status {run.returncode}: "
            f"{run.stderr.decode(errors='replace').strip()}")
    return run.stdout


def dpi_of(image):
    """A resolution that cudascan-scan takes."""
    x = image.info.get("dpi", (300, 300))[0]
    return x if 30 <= x <= 9600 else 300


def same_size(made, image):
    if made.size != image.size:
        raise SubprocessOutputError(
            f"{PROGRAM} made {made.size} pixels of {image.size}; is one of --cudascan-options to "
            "blame?")
    return made


def as_file(image):
    """The image as a file, without compression if possible. What is transparent becomes white."""
    if image.mode in ("LA", "PA", "RGBA") or "transparency" in image.info:
        over = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), over)
    deep = image.mode.startswith("I")  # 16 bit
    if not deep and image.mode not in ("1", "L", "RGB"):
        image = image.convert("RGB")
    file = io.BytesIO()
    image.save(file, format="PNG" if deep else "PPM")
    return file.getvalue()


# Around the hook, as only one plugin's image counts: OCRmyPDF's own one has made it smaller if it
# is too large for Tesseract.
@hookimpl(hookwrapper=True)
def filter_ocr_image(page, image):
    outcome = yield
    if setting(page.options, "") not in ("ocr", "both"):
        return
    image = outcome.get_result() or image
    made = Image.open(io.BytesIO(clean(page.options, as_file(image), dpi_of(image))))
    made.load()
    made.info["dpi"] = image.info.get("dpi", (300, 300))
    outcome.force_result(same_size(made, image))


@hookimpl
def filter_page_image(page, image_filename):
    if setting(page.options, "") not in ("page", "both"):
        return image_filename
    file = pathlib.Path(image_filename)
    with Image.open(file) as image:
        data = clean(page.options, file.read_bytes(), dpi_of(image), "tiff")
        same_size(Image.open(io.BytesIO(data)), image)
    made = file.with_name(file.stem + ".cudascan.tif")  # group 4, which goes into the PDF as it is
    made.write_bytes(data)
    return made
