#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a C++ file with the texts of headers: embed_headers.py OUTPUT HEADER...

The texts are what cudascan::gswo::headers() returns, named gswo/FILE."""

import os
import sys


def main(output, paths):
    parts = ['#include "kernels/gswo/headers.h"\n\nnamespace cudascan::gswo {\n\n'
             'const std::vector<SourceText> &headers() {\n'
             '  static const std::vector<SourceText> texts{\n']
    for path in paths:
        with open(path, encoding="ascii") as file:
            text = file.read()
        parts.append(f'      {{"gswo/{os.path.basename(path)}", R"header({text})header"}},\n')
    parts.append("  };\n  return texts;\n}\n\n}  // namespace cudascan::gswo\n")
    with open(output, "w", encoding="ascii") as file:
        file.write("".join(parts))


main(sys.argv[1], sys.argv[2:])
