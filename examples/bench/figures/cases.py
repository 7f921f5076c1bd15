# SPDX-License-Identifier: LGPL-2.1-or-later
"""The measurements, most of them the paper's: its figures and tables as lists of cases, with the
results in its text.

The figures themselves are pictures; only numbers from the text are repeated here.
"""
import dataclasses

# The size of the picture of Figures 3 to 6, and of the two applications (sections 4.3 and 4.4).
PICTURE, CAMERA, NEWSPAPER = (3325, 4765), (3648, 2736), (3595, 5194)


@dataclasses.dataclass(frozen=True)
class Case:
    filter: str
    window: int  # 0: the filter has a fixed window
    size: tuple
    images: int = 1

    @property
    def program(self):
        return f"{self.filter}_{self.window}" if self.window else self.filter

    @property
    def window_text(self):
        if self.images > 1:
            return f"x {self.images}"
        return f"{self.window}x{self.window}" if self.window else "own"


# "All rank-order filters, erosion and dilation" of section 4.2. Figures 3 to 5 also have ten
# filters.
TEN = ("min", "max", "midpoint", "mean", "standard_deviation", "median", "alpha_trimmed_mean",
       "mode", "erosion", "dilation")
# The others of Table 6.
WITH_WINDOW = ("directional_median", "opening", "closing", "recursive_erosion",
               "recursive_dilation")
OF_ONE_SIZE = ("hit_or_miss", "thinning", "thickening")
HEAVY = ("median", "alpha_trimmed_mean", "mode")
RANKS = ("max", "min", "erosion", "dilation")

FIGURE_3 = [Case(f, 5, PICTURE) for f in TEN]
OTHERS = [Case(f, 5, PICTURE) for f in WITH_WINDOW] + [Case(f, 0, PICTURE) for f in OF_ONE_SIZE]
FIGURE_4 = [Case(f, w, PICTURE) for f in TEN for w in (3, 5, 7, 9)]
FIGURE_6A = [Case(f, 9, PICTURE) for f in TEN]
FIGURE_6B = [Case(f, w, PICTURE) for f in RANKS for w in (9, 11)]
SHARED = [Case(f, 5, PICTURE) for f in HEAVY]
TABLE_8 = [Case("camera_fingerprint", 0, CAMERA), Case("camera_fingerprint", 0, CAMERA, 39)]
TABLE_9 = [Case(f, w, NEWSPAPER) for f in ("dilation", "erosion") for w in (3, 5, 9)]
DOCUMENT = [Case("document_segmentation", 25, NEWSPAPER)]

# Loops as in public image code, examples/gswo/loops; not of the paper.
LOOPS = [Case(f, 0, (1052, 1524)) for f in (
    "bilateral", "census", "diffusion", "guided", "kuwahara", "local_binary_pattern",
    "local_variance", "non_local_means", "rank_order", "sobel")]

CASES = {
    "3": FIGURE_3 + OTHERS,
    "4": FIGURE_4,
    "5": FIGURE_3,
    "6a": FIGURE_6A,
    "6b": FIGURE_6B,
    "6c": FIGURE_3,
    "5.3": SHARED,
    "8": TABLE_8,
    "9": TABLE_9 + DOCUMENT,
    "loops": LOOPS,
}
OF_PAPER = [name for name in CASES if name != "loops"]

# Figures whose tables have a column for OpenACC.
OPENACC = ("3", "6a", "8", "9", "loops")

# The picture for a filter: soft structures with noise, black and white, or text.
PICTURES = {"hit_or_miss": "shapes", "thinning": "shapes", "thickening": "shapes",
            "document_segmentation": "page"}


def picture(case):
    return "page" if case.size == NEWSPAPER else PICTURES.get(case.filter, "natural")


def reach(case):
    """The largest number of rows below a pixel that affect its result."""
    return {"thinning": 40, "thickening": 40, "guided": 8}.get(case.filter, 2 * max(case.window, 3))


def complexity(case):
    """Figure 5's complexity: loop iterations in a window times tests; arithmetic is not counted."""
    n = case.window * case.window
    half = n // 2 + 1
    tests = {
        "midpoint": 2 * n,                          # two tests for each sample
        "median": half * (2 * n - half - 1) // 2,   # a sort that ends at the middle
        "alpha_trimmed_mean": n * (n - 1) // 2,     # a complete sort
        "mode": n * n,                              # compares each sample with each
    }
    return tests.get(case.filter, n)


# Speed-ups over sequential code, from the text of section 4.1 and 4.2.
PAPER_3 = {"mean": "2-5", "midpoint": "2-5", "standard_deviation": "<1", "dilation": "<1",
           **dict.fromkeys(HEAVY, "10-30")}
PAPER_4 = dict.fromkeys(HEAVY, "up to 30")
PAPER_6A = {"min": "<1, <1", "max": "<1, <1", "median": "10-26, GSWO more",
            "alpha_trimmed_mean": "10-26, OpenACC more", "mode": "10-26, OpenACC more"}
PAPER_6B = dict.fromkeys(RANKS, "GSWO above OpenCV's")
PAPER_6C = dict.fromkeys(HEAVY, "6-9, 12-27")
# Table 8, one image, and Table 9, the systems with GTX 690: seconds of the CPU, of the GPU,
# speed-up.
PAPER_8 = {1: "28 s, 8.2 s, 3.4; kernel region 16 s, 3.9 s, 4.2",
           39: "1118 s, 280 s, 3.8; kernel region 663 s, 153 s, 4.3"}
PAPER_SHARED = "+20-25% with shared memory"
PAPER_9 = {("dilation", 3): "1.3 s, 1.6 s, 0.8", ("dilation", 5): "4.3 s, 1.9 s, 2.2",
           ("dilation", 9): "18.2 s, 2.3 s, 7.9", ("erosion", 3): "1.5 s, 2.3 s, 0.7",
           ("erosion", 5): "5.7 s, 2.1 s, 2.7", ("erosion", 9): "16.8 s, 2.5 s, 6.6"}


def published(figure, case):
    """What the text of the paper says about a case in a figure, or None."""
    texts = {"3": PAPER_3, "4": PAPER_4, "6a": PAPER_6A, "6b": PAPER_6B, "6c": PAPER_6C}
    if figure == "8":
        return PAPER_8.get(case.images)
    if figure == "5.3":
        return PAPER_SHARED
    if figure == "9":
        return PAPER_9.get((case.filter, case.window))
    return texts.get(figure, {}).get(case.filter)
