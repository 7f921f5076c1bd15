# SPDX-License-Identifier: LGPL-2.1-or-later
"""Numbers and tables as HTML."""
import html

from .results import number

BACKENDS = {"cuda": "GPU", "cpu": "one CPU core"}
WHERE = {"kernel": "bare kernel", "cudamemory": "CUDAMemory", "system": "system memory"}


def text(value):
    return html.escape(str(value))


def count(value, digits=3):
    """About three digits; a dash for what is not known."""
    if not number(value):
        return "–"
    if isinstance(value, int) and abs(value) < 1000:
        return str(value)
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}".replace(",", "\N{THIN SPACE}")
    decimals = 0 if size >= 10 ** (digits - 1) else 1 if size >= 10 else 2 if size >= 0.1 else 4
    return f"{value:.{decimals}f}"


def some(number_of, word):
    """A number of things, such as "2 rows"."""
    return f"{number_of} {word}{'s' if number_of != 1 else ''}"


def times(value):
    return count(value) + "×" if number(value) else "–"


def quotient(a, b):
    return a / b if number(a) and number(b) and b > 0 else None


def size(row):
    if not number(row.get("width")) or not number(row.get("height")):
        return "–"
    depth = row.get("depth", 8)
    word = "" if depth == 8 else " float" if depth == 32 else f" {depth:.0f} bit"
    return f"{row['width']:.0f}×{row['height']:.0f}{word}"


def latency(row, key, of="latency_us"):
    """In milliseconds."""
    value = (row.get(of) or {}).get(key)
    return value / 1e3 if number(value) else None


class Cell:
    """A cell that is more than its text: `kind` is a class of the style sheet."""

    def __init__(self, content, kind):
        self.content, self.kind = content, kind


def used(heads, rows, always=2):
    """The heads and rows without columns in which all rows have a dash.
    @param always  columns that stay"""
    rows = list(rows)

    def says(row, i):
        cell = row[i] if i < len(row) else "–"
        return (cell.content if isinstance(cell, Cell) else cell) != "–"
    kept = [i for i in range(len(heads)) if i < always or any(says(row, i) for row in rows)]
    return [heads[i] for i in kept], [[row[i] for i in kept if i < len(row)] for row in rows]


def class_of(kind):
    """The attribute; a single word needs no quotes, which are a twentieth of a page."""
    return f' class="{kind}"' if " " in kind else f" class={kind}"


def table(heads, rows, caption=""):
    """Rows of texts or Cells; the first column is a heading of its row, numbers are to the
    right. HTML may omit the end tags of cells and rows, a quarter of a page."""
    lines = ['<div class="wide"><table>']
    if caption:
        lines.append(f"<caption>{text(caption)}</caption>")
    rows = list(rows)
    words = [any(len(row) > i and isinstance(row[i], Cell) and row[i].kind.startswith("word")
                 for row in rows)
             for i in range(len(heads))]
    lines.append("<thead><tr>" +
                 "".join(f'<th scope="col"{" class=word" if word else ""}>{text(head)}'
                         for head, word in zip(heads, words)) + "</thead><tbody>")
    for row in rows:
        cells = []
        for i, cell in enumerate(row):
            kind = class_of(cell.kind) if isinstance(cell, Cell) else ""
            content = text(cell.content if isinstance(cell, Cell) else cell)
            long = class_of("long") if len(content) > 40 else ""
            cells.append(f'<th scope="row"{long}>{content}' if i == 0 else f"<td{kind}>{content}")
        lines.append("<tr>" + "".join(cells))
    return "\n".join(lines) + "</tbody></table></div>"


def details(summary, content, is_open=False):
    is_open = " open" if is_open else ""
    return f"<details{is_open}><summary>{text(summary)}</summary>\n{content}</details>"
