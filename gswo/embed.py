#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes a file as a string of C++: embed.py INPUT OUTPUT."""
import sys

with open(sys.argv[1], encoding='utf-8') as file:
    lines = file.read().splitlines()
with open(sys.argv[2], 'w', encoding='utf-8') as file:
    for line in lines:
        quoted = line.replace('\\', '\\\\').replace('"', '\\"')
        file.write(f'"{quoted}\\n"\n')
