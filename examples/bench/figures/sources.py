# SPDX-License-Identifier: LGPL-2.1-or-later
"""The source of a user's filter in its forms: as written, with OpenMP, with OpenACC, and as gswo-cc
translates it.

All have the same loops. OpenMP's `parallel` and `for` replace GSWO's pragmas of these names, so the
arrays of a window, declared in the parallel block, are private to each thread. With OpenACC a
clause makes them private, and the images are already in device memory; see openacc_times.h. Window
sizes are constants in all forms, as with gswo-cc --set.
"""
import re
import subprocess

# What becomes of 16-bit filters when all is computed in double precision, as in the paper. The
# others only get another type of pixel.
DOUBLE = {
    "mean": [("unsigned sum = 0, n = 0;", "double sum = 0, n = 0;"),
             ("(sum + n / 2) / n", "sum / n")],
    "midpoint": [("(least + most + 1) / 2", "(least + most) / 2")],
    "alpha_trimmed_mean": [("unsigned sum = 0;", "double sum = 0;"),
                           ("const unsigned n =", "const double n ="),
                           ("(sum + n / 2) / n", "sum / n")],
    "standard_deviation": [
        ("unsigned sum = 0, low = 0, high = 0, n = 0;", "double sum = 0, squares = 0, n = 0;"),
        ("const unsigned sample =", "const double sample ="),
        ("low += sample * sample & 0xffff;", "squares += sample * sample;"),
        ("high += sample * sample >> 16;", ""),
        ("const unsigned long long squares = ((unsigned long long)high << 16) + low;", ""),
        ("const unsigned long long variance = n * squares - square(sum);",
         "const double variance = n * squares - sum * sum;"),
        ("unsigned level = (unsigned)(sqrtf((float)variance) * (1.0f / n) + 0.5f);",
         "const double level = sqrt(variance > 0 ? variance : 0) / n;"),
        ("level += square((2 * level + 1) * n) <= 4 * variance;", ""),
        ("level -= (level > 0) & (square((2 * level - 1) * n) > 4 * variance);", "")],
    "camera_fingerprint": [("const int noise =", "const double noise ="),
                           ("const int shown =", "const double shown =")],
}

PRAGMA = re.compile(r"^[ \t]*#pragma[ \t]+(?:gswo[ \t]+)?"
                    r"(parallel region|parallel|for|single|copy\w*)\b[^\n]*", re.M)
LAUNCH = re.compile(r"(\w+<<<g_grid, g_block>>>\(.*\));$", re.M)


def in_double(name, text):
    """A filter that computes with double precision."""
    for old, new in [("typedef unsigned short pixel;", "typedef double pixel;"),
                     *DOUBLE.get(name, [])]:
        if old not in text:
            raise SystemExit(f"{name}: has no '{old}', which double precision replaces")
        text = text.replace(old, new)
    return text


class Filter:
    """A source with one function `void name(T *in, ..., T *out, int width, int height, ...)`."""

    def __init__(self, name, text, double=False, keeps_border=False):
        """@param keeps_border  whether windows leave the border of the output alone"""
        if double:
            text = in_double(name, text)
        self.name, self.text, self.keeps_border = name, text, keeps_border
        marked = re.search(r"^void (\w+)\(([^)]*)\)\s*\{", text, re.M)
        if not marked or not re.search(
                r"^typedef (unsigned char|unsigned short|float|double) pixel;", text, re.M):
            raise SystemExit(f"{name}: must have a function void {name}(pixel *in, ..., int width, "
                             f"int height)")
        self.function, self.body = marked.group(1), marked.end()
        parameters = [" ".join(p.split()) for p in marked.group(2).split(",")]
        images = [re.fullmatch(r"(?:const )?pixel (\*+)(\w+)", p) for p in parameters]
        self.images = [m.group(2) for m in images if m]
        stars = {m.group(1) for m in images if m}
        if len(stars) != 1 or len(self.images) < 2:
            raise SystemExit(f"{name}: needs two or more images, all `pixel *` or all `pixel **`")
        self.flat = stars == {"*"}
        # Parameters that are sizes of windows.
        self.sizes = [m.group(1) for m in (re.match(r"int (window\w*) = ", p) for p in parameters)
                      if m]

    def sequential(self):
        return self._join(self._with_constants(self.text), "host_times.h", "run_host")

    def openmp(self):
        pragmas = {"parallel": "#pragma omp parallel", "for": "#pragma omp for"}
        text = PRAGMA.sub(lambda m: pragmas.get(m.group(1), ""), self._with_constants(self.text))
        return self._join(text, "host_times.h", "run_host")

    def openacc(self):
        # Window functions also run on the device, and tables are there, too.
        text = re.sub(r"^static ((?:\w+ )+\w+\()", r"#pragma acc routine seq\nstatic \1",
                      self._with_constants(self.text), flags=re.M)
        text = re.sub(r"^(static const \w+ (\w+)\[.*;)$",
                      r"\1\n#pragma acc declare copyin(\2)", text, flags=re.M)
        out, at, arrays = [], 0, []
        for m in PRAGMA.finditer(text):
            out.append(text[at:m.start()])
            at = m.end()
            if m.group(1).startswith("parallel"):
                arrays = []
            elif m.group(0).strip().startswith("#pragma single initiali"):
                arrays = re.findall(r"(\w+)\[", text[at:text.index("#pragma", at)])
            elif m.group(1) == "for":
                private = f" private({', '.join(arrays)})" if arrays else ""
                out.append("#pragma acc parallel loop collapse(2) "
                           f"deviceptr({', '.join(self.images)}){private}")
        begin = "#define FIGURES_KEEPS_BORDER\n" if self.keeps_border else ""
        return self._join(begin + "".join(out) + text[at:], "openacc_times.h", "run_openacc")

    def cuda(self, translator, path, window, options=()):
        """The output of gswo-cc, with its kernel launches passed to figures::launch().
        @param path  a file with the text"""
        settings = [*options]
        settings += [word for size in self.sizes for word in ("--set", f"{size}={window}")]
        done = subprocess.run([translator, "--emit", "standalone", *settings, path],
                              capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{path}: gswo-cc failed\n{done.stderr}")
        text, launches = LAUNCH.subn(r"figures::launch([&] { \1; });", done.stdout)
        if launches == 0:
            raise SystemExit(f"{path}: gswo-cc's output has no launch of a kernel")
        text = re.sub(r'^#line .*\n', "", text, flags=re.M)
        return self._join('#include "cuda_times.h"\n' + text, "cuda_times.h", "run_cuda")

    def _with_constants(self, text):
        """Turns window sizes into constants; the compiler gets them as -DFIGURES_WINDOW."""
        head, body = text[:self.body], text[self.body:]
        for size in self.sizes:
            head = re.sub(rf"\bint {size} = ", "int = ", head)
        return head + "".join(f"\n  constexpr int {size} = FIGURES_WINDOW;"
                              for size in self.sizes) + body

    def _join(self, text, header, run):
        """Adds a main() that runs the filter."""
        take = "flat" if self.flat else "rows"
        images = ", ".join(f"images.{take}({i})" for i in range(len(self.images)))
        return (f"{text}\n#include \"{header}\"\n\nint main(int argc, char **argv) {{\n"
                f"  return figures::{run}<pixel>(argc, argv, {len(self.images)}, "
                f"{str(self.flat).lower()},\n"
                f"                           [](auto &images, int rows) {{ "
                f"{self.function}({images}, "
                f"images.width(), rows); }});\n}}\n")
