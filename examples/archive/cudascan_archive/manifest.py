# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the manifest: one row for each volume."""
import dataclasses
import os
import re
import shlex

import fsspec
import pyarrow
import pyarrow.csv
import pyarrow.parquet

# These are the program's own business, or need somebody at a scanner.
REFUSED = ("-o", "--output", "--resume", "--stats", "--files-from", "--null", "--scan", "--device",
           "--list-devices", "--backend", "--jobs", "-j", "-n", "--dry-run", "-q", "--quiet", "-v",
           "--verbose", "--version", "--serve", "-h", "--help")
OF_PDFS = ("--ocr", "--compression", "--title", "--author", "--subject", "--keywords", "--language")


class BadInput(Exception):
    """The command line or the manifest is wrong; the text says what, and how to put it right."""


@dataclasses.dataclass(frozen=True)
class Volume:
    name: str  # of its folder in the destination
    input: str  # folder, file, or glob; a path or a URL
    options: str = ""  # further words for cudascan-scan
    pages: int = 0  # expected, for the time left; 0 = unknown


def check_options(text, where, pdf=False):
    """The words of `text`; throws BadInput for options that the archive sets itself, and for those
    of PDFs without `pdf`."""
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise BadInput(f"{where}: {text!r}: {error}") from None
    for word in words:
        name = word.split("=")[0]
        if name in OF_PDFS and not pdf:
            raise BadInput(f"{where}: {word} is for PDFs; add --pdf, or leave it out")
        if name in REFUSED or re.match(r"-[ojnqvh]", word):
            raise BadInput(f"{where}: {word} is not for volumes; cudascan-archive sets input, "
                           "output and backend itself")
    return words


def read_table(path):
    try:
        with fsspec.open(path, "rb") as file:
            if path.endswith(".parquet"):
                return pyarrow.parquet.read_table(pyarrow.py_buffer(file.read()))
            if path.endswith(".csv"):
                # Everything is text: a volume 007 stays 007.
                return pyarrow.csv.read_csv(
                    file, convert_options=pyarrow.csv.ConvertOptions(column_types={
                        name: pyarrow.string() for name in ("volume", "input", "options")},
                        strings_can_be_null=False))
    except Exception as error:  # those of object stores have nothing in common
        raise BadInput(f"manifest {path}: it cannot be read: {error}") from None
    raise BadInput(f"manifest {path}: the name must end with .csv or .parquet")


def check_name(name, where):
    if not re.fullmatch(r"\w[\w.,+@=~ -]{0,199}", name) or name.endswith(" "):
        raise BadInput(f"{where}: volume={name!r} has to be a plain name, since its folder gets "
                       "it: letters, digits and . , + @ = ~ _ - and spaces, beginning with a "
                       "letter, digit or _, at most 200")


def read(path, pdf=False):
    """The volumes of a manifest. A relative `input` is relative to the manifest's folder.
    Throws BadInput.

    @param pdf  each volume becomes a PDF
    """
    table = read_table(path)
    for column in ("volume", "input"):
        if column not in table.column_names:
            raise BadInput(f"manifest {path}: there is no column {column!r}, only "
                           f"{', '.join(table.column_names) or 'none'}")
    columns = [name for name in ("volume", "input", "options", "pages")
               if name in table.column_names]
    folder, volumes, seen = os.path.dirname(path), [], set()
    for number, row in enumerate(table.select(columns).to_pylist(), 1):
        where = f"manifest {path}, row {number}"
        name, source = str(row["volume"] or ""), str(row["input"] or "")
        check_name(name, where)
        # Some file systems do not tell a from A.
        if name.lower() in seen:
            raise BadInput(f"{where}: volume={name} is there twice, "
                           "if capitals do not count; give each volume its own name")
        seen.add(name.lower())
        if not source:
            raise BadInput(f"{where}: volume={name} has no input")
        if "://" not in source:
            source = os.path.join(folder, source)
            if "://" not in source:
                source = os.path.abspath(source)
        options = row.get("options") or ""
        check_options(options, where, pdf)
        try:
            pages = int(row.get("pages") or 0)
        except ValueError:
            raise BadInput(f"{where}: pages={row['pages']} is not a number") from None
        volumes.append(Volume(name, source, options, pages))
    if not volumes:
        raise BadInput(f"manifest {path}: it has no rows")
    return volumes
