#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Simulates cudascan-archive on clusters that are larger than those at hand.

    simulate.py                     the tables of docs/archive.md
    simulate.py --nodes=40 --rate=77 --workers=4 --storage=5 --price=0.7

The model, in which a volume is the smallest event:

- A worker takes a volume, copies its pages from the storage, computes for pages / rate, and copies
  the results back. The workers of a node together have its rate; those that compute do not slow one
  another down below it.
- All copies share the bandwidth of the storage evenly, each at most the node's network divided by
  its workers. Each page costs requests, which share the storage's rate of requests in the same way.
- A volume costs `start` seconds for what is not its pages, such as records, and for cudascan-scan
  where that has to start; and the driver `driver` seconds, one volume after the other.
- Nodes are lost at random, with an exponential time between losses. What their workers were at is
  done again; a node comes back after `repair` seconds.
- The sizes of volumes are uniform between half and one and a half of the mean.
"""
import argparse
import dataclasses
import heapq
import random


@dataclasses.dataclass(frozen=True)
class Model:
    nodes: int = 100
    workers: int = 4  # of each node
    rate: float = 383  # pages/s of a node that only computes
    page: float = 3e6  # bytes of a page that is read
    result: float = 60e3  # bytes of a page that is written
    storage: float = 10e9  # bytes/s, of all nodes together
    network: float = 3e9  # bytes/s of a node
    requests: float = 20e3  # of the storage, in a second
    volume: int = 300  # pages
    start: float = 0.6  # seconds for each volume
    driver: float = 0.01  # seconds for each volume
    loss: float = 500 * 3600  # seconds between the losses of one node; 0 = none is lost
    repair: float = 300
    price: float = 4.0  # of a node, for an hour
    request_price: float = 5.4e-6  # of reading a page and writing one
    seed: int = 1


class Shared:
    """Jobs that share a capacity evenly, each at most `each`. All have the same rate at any time,
    so they end in the order of the work that was left when they began."""

    def __init__(self, capacity, each):
        self.capacity, self.each = capacity, each
        self.time = self.done = 0.0  # work done for each job since the beginning
        self.ends, self.live = [], set()

    def rate(self):
        return min(self.each, self.capacity / len(self.live)) if self.live else 0

    def advance(self, time):
        self.done += (time - self.time) * self.rate()
        self.time = time

    def add(self, time, work, job):
        self.advance(time)
        self.live.add(job)
        heapq.heappush(self.ends, (self.done + work, job))

    def remove(self, time, job):
        self.advance(time)
        self.live.discard(job)

    def next(self):
        """The time at which the next job ends, and the job."""
        while self.ends and self.ends[0][1] not in self.live:
            heapq.heappop(self.ends)
        if not self.ends:
            return float("inf"), None
        end, job = self.ends[0]
        return self.time + max(0.0, end - self.done) / self.rate(), job


class Simulation:
    """A job is (number, node, worker): the number tells an attempt from an earlier one."""

    def __init__(self, model, volumes):
        self.m, self.random = model, random.Random(model.seed)
        low, high = model.volume // 2, model.volume + model.volume // 2
        self.queue = [self.random.randint(low, high) for _ in range(volumes)]
        self.pages = sum(self.queue)
        self.time = self.driver_free = 0.0
        self.events, self.count, self.working, self.idle = [], 0, {}, set()
        # A page is work for the bandwidth and for the rate of requests: the scarcer one counts.
        unit = max((model.page + model.result) / model.storage, 2 / model.requests)
        self.storage = Shared(1 / unit, model.network / model.workers / (model.page + model.result))

    def at(self, time, kind, job):
        heapq.heappush(self.events, (time, kind, job))

    def take(self, node, worker):
        """A worker takes the next volume, once the driver has handed it out."""
        if not self.queue:
            return
        self.count += 1
        job = (self.count, node, worker)
        self.working[job] = self.queue.pop()
        self.driver_free = max(self.time, self.driver_free) + self.m.driver
        self.at(self.driver_free + self.m.start, "copy", job)

    def lose(self, node):
        self.idle = {place for place in self.idle if place[0] != node}
        for job in [job for job in self.working if job[1] == node]:
            self.queue.append(self.working.pop(job))
            self.storage.remove(self.time, job)
        self.at(self.time + self.m.repair, "repaired", (0, node, 0))

    def schedule_loss(self, node):
        if self.m.loss:
            self.at(self.time + self.random.expovariate(1 / self.m.loss), "lost", (0, node, 0))

    def begin(self, node):
        for worker in range(self.m.workers):
            self.take(node, worker)
        self.schedule_loss(node)

    def run(self):
        """Returns the seconds until all volumes are done."""
        for node in range(self.m.nodes):
            self.begin(node)
        while self.working or self.queue:
            copied, job = self.storage.next()
            if self.events and self.events[0][0] <= copied:
                self.time, kind, job = heapq.heappop(self.events)
            else:
                self.time, kind = copied, "copied"
            if kind == "lost":
                self.lose(job[1])
            elif kind == "repaired":
                self.begin(job[1])
            elif job not in self.working:
                pass  # its node is lost
            elif kind == "copy":
                self.storage.add(self.time, self.working[job], job)
            elif kind == "copied":
                self.storage.remove(self.time, job)
                self.at(self.time + self.working[job] / (self.m.rate / self.m.workers), "done", job)
            else:
                del self.working[job]
                self.idle.add(job[1:])
            while self.idle and self.queue:
                self.take(*self.idle.pop())
        return self.time


def simulated(model, pages=1_000_000):
    """Pages/s, and the price of a million pages."""
    simulation = Simulation(model, max(1, pages // model.volume))
    seconds = simulation.run()
    rate = simulation.pages / seconds
    return rate, 1e6 * (model.request_price + model.nodes * model.price / 3600 / rate)


KINDS = ({}, {"rate": 142, "price": 0.8})  # a GPU and 16 cores; 16 cores


def tables():
    print("| storage | nodes | with GPUs: pages/s | 10 million pages | a million pages | "
          "16 cores each: pages/s | 10 million pages | a million pages |")
    print("|---|---|---|---|---|---|---|---|")
    for storage in (2e9, 10e9, 50e9):
        for nodes in (1, 10, 25, 100):
            line = f"| {storage / 1e9:g} GB/s | {nodes} |"
            for facts in KINDS:
                model = Model(nodes=nodes, storage=storage, requests=storage / 1e6, **facts)
                rate, price = simulated(model, 40_000 * nodes)
                line += f" {rate:.0f} | {1e7 / rate / 3600:.1f} h | ${price:.2f} |"
            print(line)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for field in dataclasses.fields(Model):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=field.type)
    parser.add_argument("--pages", type=int, default=1_000_000)
    given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
    pages = given.pop("pages")
    if not given:
        tables()
        return
    for name in ("storage", "network"):  # in GB/s on the command line
        if name in given:
            given[name] *= 1e9
    rate, price = simulated(Model(**given), pages)
    print(f"{rate:.1f} pages/s, ${price:.2f} for a million pages")


if __name__ == "__main__":
    main()
