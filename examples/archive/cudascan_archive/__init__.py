# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cudascan-scan over an archive, volume by volume, on a Ray cluster. See docs/archive.md.

manifest   reads the list of volumes
place      the destination, a folder or a prefix in an object store
source     the input of a volume
scan       runs the program cudascan-scan
attempts   counts attempts at a volume
volume     makes one volume, so that it appears whole or not at all
records    the Parquet files of pages and volumes
cluster    the workers, on Ray
main       the command line
"""
