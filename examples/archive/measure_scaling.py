#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures pages/s of cudascan-archive on 1 to 4 nodes, which are all on this machine.

    measure_scaling.py PAGE... [--share=25] [--nodes=1,2,3,4] [--program=cudascan-scan]

Each node has one worker, whose cudascan-scan gets the given percentage of a core, by the program
cpulimit (Debian: cpulimit). So the nodes do not take the cores from one another, as long as these
percentages together are less than the machine has. The time counts from the moment at which as many
volumes as nodes are ready, to the last one.
"""
import argparse
import os
import pathlib
import shutil
import tempfile
import time

from cudascan_archive import cluster, scan
from cudascan_archive.manifest import Volume
from cudascan_archive.place import Place
from cudascan_archive.volume import Setup

import ray
from ray.cluster_utils import Cluster

STORE = 80_000_000


def slowed(program, share, folder):
    """A program that is cudascan-scan with a share of a core, in percent."""
    path = folder / "slowed"
    path.write_text('#!/bin/sh\ncase $1 in --version) exec ' f'"{program}" "$@";; esac\n'
                    f'exec cpulimit --quiet --limit {share} --foreground -- "{program}" "$@"\n')
    path.chmod(0o755)
    return str(path)


def measured(nodes, volumes, setup):
    """Pages/s."""
    made = Cluster(initialize_head=True, head_node_args={
        "num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False})
    try:
        for _ in range(nodes):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        cluster.connect(made.address)
        Place(setup.dest).write("archive.json", b"{}")
        times, pages = [], 0
        for outcome in cluster.outcomes(volumes, setup, nodes, 0):
            assert outcome["status"] == "complete", outcome
            pages += outcome["pages"] if len(times) >= nodes else 0
            times.append(time.monotonic())
        return pages / (times[-1] - times[nodes - 1])
    finally:
        ray.shutdown()
        made.shutdown()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("pages", nargs="+", help="images")
    parser.add_argument("--share", type=int, default=25, help="of a core, in percent")
    parser.add_argument("--nodes", default="1,2,3,4")
    parser.add_argument("--volumes", type=int, default=24)
    parser.add_argument("--each", type=int, default=4, help="pages of a volume")
    parser.add_argument("--program", default="cudascan-scan")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="cudascan-archive-"))
    try:
        volumes = []
        for number in range(options.volumes):
            source = folder / f"in/{number}"
            source.mkdir(parents=True)
            for page in range(options.each):
                image = os.path.abspath(options.pages[page % len(options.pages)])
                (source / f"{page}{pathlib.Path(image).suffix}").symlink_to(image)
            volumes.append(Volume(f"v{number}", str(source)))
        program = os.path.abspath(shutil.which(options.program) or options.program)
        first = 0
        for nodes in map(int, options.nodes.split(",")):
            setup = Setup(dest=str(folder / f"out{nodes}"), run="measured",
                          version=scan.version_of(program),
                          program=slowed(program, options.share, folder))
            rate = measured(nodes, volumes, setup)
            first = first or rate / nodes
            print(f"| {nodes} | {rate:.2f} | {rate / first:.2f} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
