#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a C++ initialiser {"gswo/NAME", "TEXT"} for each file: embed.py OUTPUT FILE..."""

import os
import sys


def main(output, paths):
    with open(output, "w", encoding="ascii") as embedded:
        for path in paths:
            with open(path, encoding="ascii") as file:
                embedded.write(f'{{"gswo/{os.path.basename(path)}", '
                               f'R"header({file.read()})header"}},\n')


main(sys.argv[1], sys.argv[2:])
