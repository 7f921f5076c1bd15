# SPDX-License-Identifier: LGPL-2.1-or-later
"""Spreads volumes over a Ray cluster. Ray starts workers again on nodes that are left, and gives
them the volumes that were lost; the results in the destination make that harmless."""
import dataclasses
import json
import logging
import os

# Before Ray is loaded: it would send statistics of its use to its makers, and print on the terminal
# what concerns only these.
os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")

import pyarrow as pa
import ray
import ray.data
from ray.util import metrics

import cudascan_archive
from . import scan, volume
from .manifest import Volume

# Of a GPU's time and of the cores next to it, what is given to workers.
MOST_BUSY = 0.9
INIT_DEATHS = 20


class Worker:
    """Makes volumes, one after the other, on a share of a node."""

    def __init__(self, setup):
        self.setup = setup
        self.problem = volume.problem_of_node(setup)
        self.program = scan.Program(setup.program)
        tags = {"node": os.uname().nodename}
        self.pages = metrics.Counter("cudascan_archive_pages", "Pages that were made",
                                     tag_keys=("node",))
        self.failures = metrics.Counter("cudascan_archive_failed_pages", "Pages that failed",
                                        tag_keys=("node",))
        self.volumes = metrics.Counter("cudascan_archive_volumes", "Volumes by their outcome",
                                       tag_keys=("node", "status"))
        for metric in (self.pages, self.failures, self.volumes):
            metric.set_default_tags(tags)

    def __call__(self, batch):
        outcomes = []
        for text in batch["volume"].to_pylist():
            one = Volume(**json.loads(text))
            if self.problem:
                outcome = volume.result(one, "stop", reason=self.problem)
            else:
                outcome = volume.make(one, self.setup, self.program, self.pages.inc)
            if outcome["failed"]:
                self.failures.inc(outcome["failed"])
            self.volumes.inc(tags={"status": outcome["status"]})
            outcomes.append(json.dumps(outcome))
        return pa.table({"outcome": outcomes})


def connect(address):
    """Joins a cluster, or starts one on this machine. Throws ConnectionError."""
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    # The nodes need not have this package.
    ray.cloudpickle.register_pickle_by_value(cudascan_archive)
    common = {"log_to_driver": False, "logging_level": logging.ERROR}
    if address:
        ray.init(address=address, **common)
    else:
        # Volumes pass through as names: they need no memory.
        ray.init(address="local", object_store_memory=100_000_000, **common)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    # A node may be lost while a worker starts on it. If all fail to start, the run ends.
    context.max_consecutive_actor_init_deaths = INIT_DEATHS


def room(cpus, gpus):
    """How many workers fit into the cluster now."""
    count = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            fit = int(has.get("CPU", 0) / cpus)
            count += min(fit, int(has.get("GPU", 0) / gpus + 1e-6)) if gpus else fit
    return count


def most_cores():
    return max((int(node["Resources"].get("CPU", 0)) for node in ray.nodes() if node["Alive"]),
               default=0)


def gpus():
    return int(ray.cluster_resources().get("GPU", 0))


def outcomes(volumes, setup, workers, share):
    """Yields what became of each volume, in the order in which they are ready. Throws Stop.

    @param workers  at most this many, one at least
    @param share    of a GPU for each, 0 without GPUs
    """
    rows = [{"volume": json.dumps(dataclasses.asdict(one))} for one in volumes]
    made = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        Worker, fn_constructor_kwargs={"setup": setup}, batch_size=1, batch_format="pyarrow",
        num_cpus=setup.cpus, num_gpus=share or None,
        # One task for each worker, and none that waits for it: a slow node gets fewer volumes.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers, initial_size=workers,
                                           max_tasks_in_flight_per_actor=1))
    try:
        yield from told(made)
    except ray.exceptions.RayError as error:
        raise scan.Stop("the cluster has failed: " + str(error).splitlines()[0]) from None


def told(made):
    """What the workers say, as soon as they do."""
    # Nothing is fetched ahead: that would hold an outcome back until the next one is there.
    for batch in made.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
        for text in batch["outcome"].to_pylist():
            yield json.loads(text)


def share_of(busy, cores, cpus):
    """The share of a GPU for each worker.

    @param busy   of the GPU, with one worker, 0 to 1
    @param cores  of a node for each of its GPUs
    @param cpus   of a worker
    """
    by_gpu = int(MOST_BUSY / busy) if busy > 0 else 1 << 10
    return 1 / max(1, min(by_gpu, cores // cpus))
