#!/usr/bin/env python3
"""What a server costs while workers wait for work, and how fast it wakes one of them.

    bench/idle_polls.py [--ff build/release/ff] [--polls 2000] [--idle-s 30] [--submits 100] [--json]

Starts `ff serve` on a SQLite file in a temporary folder, opens so many claims that wait, lets them wait, and prints the
memory of the server and what it used of a core meanwhile. Then it submits executions one at a time and takes the time
from the first byte of each submission to the answer of the claim that got it. Everything runs on this machine, over
loopback; the machine's other load shows in the figures. A submission and a claim are one commit each, so the time that
the disk takes for an fsync is printed beside them.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
WAIT_MS = 60_000
LANE = "bench"


def memory_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return int(re.search(r"VmRSS:\s+(\d+) kB", status.read())[1]) / 1024


def cpu_s(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def fsync_ms(folder):
    """What the disk needs for one commit's worth: a hand-over waits for two of them."""
    times = []
    with open(f"{folder}/fsync", "wb", buffering=0) as file:
        for _ in range(50):
            file.write(bytes(4096))
            began = time.monotonic()
            os.fsync(file.fileno())
            times.append((time.monotonic() - began) * 1000)
    return statistics.median(times)


class Server:
    """`ff serve` at a port of its own; it ends with this object."""

    def __init__(self, ff, folder):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("FF_")}
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            [ff, "serve", "--store", f"sqlite:{folder}/flow.db", "--listen", "127.0.0.1:0", "--log-level", "warn"],
            stdout=subprocess.PIPE, stderr=open(f"{folder}/log", "wb"), env=environment, text=True)
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)", line)
        if not found:
            sys.exit(f"the server did not start: {line}{open(f'{folder}/log').read()}")
        self.port = int(found[1])
        self.pid = self.process.pid

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Connection:
    """One connection that is kept."""

    @staticmethod
    async def open(port):
        self = Connection()
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        return self

    def send(self, method, target, body=None):
        text = json.dumps(body).encode() if body is not None else b""
        head = f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n"
        if body is not None:
            head += f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n"
        self.writer.write(head.encode() + b"\r\n" + text)

    async def answer(self):
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = re.search(r"(?i)content-length: (\d+)", head)
        body = await self.reader.readexactly(int(length[1])) if length else b""
        return int(head.split()[1]), body

    async def call(self, method, target, body=None):
        self.send(method, target, body)
        return await self.answer()


async def wait_until_ready(server):
    while True:
        connection = await Connection.open(server.port)
        status, _ = await connection.call("GET", "/readyz")
        connection.writer.close()
        if status == 200:
            return (time.monotonic() - server.started) * 1000
        await asyncio.sleep(0.001)


async def poll(connection, number, answers):
    """Claims again and again; what a claim got is told with the time of its answer, and completed."""
    worker = {"worker_id": "bench", "worker_instance_id": f"bench-{number}", "lanes": [LANE], "wait_ms": WAIT_MS}
    while True:
        status, body = await connection.call("POST", "/v1/worker/claim", worker)
        at = time.monotonic()
        if status != 200:
            sys.exit(f"a claim was answered with {status}: {body[:300]}")
        for task in json.loads(body)["tasks"]:
            answers.put_nowait((at, task))
            await connection.call("POST", "/v1/worker/complete", {"handle": task["handle"]})


async def waiting_claims(port):
    connection = await Connection.open(port)
    _, body = await connection.call("GET", "/metrics")
    connection.writer.close()
    found = re.search(rf'ff_claim_waiters{{lane="{LANE}"}} (\d+)', body.decode())
    return int(found[1]) if found else 0


async def measure(options, folder):
    server = Server(options.ff, folder)
    figures = {"polls": options.polls}
    polls = []
    try:
        figures["ready_ms"] = round(await wait_until_ready(server), 1)
        await asyncio.sleep(1)
        figures["idle_mb"] = round(memory_mb(server.pid), 1)

        answers = asyncio.Queue()
        for number in range(options.polls):
            polls.append(asyncio.create_task(poll(await Connection.open(server.port), number, answers)))
        for _ in range(600):
            figures["waiting"] = await waiting_claims(server.port)
            if figures["waiting"] >= options.polls:
                break
            await asyncio.sleep(0.1)
        used, began = cpu_s(server.pid), time.monotonic()
        await asyncio.sleep(options.idle_s)
        seconds = time.monotonic() - began
        figures["polls_cpu_percent"] = round(100 * (cpu_s(server.pid) - used) / seconds, 2)
        figures["polls_mb"] = round(memory_mb(server.pid), 1)

        submitter = await Connection.open(server.port)
        times = []
        for _ in range(options.submits):
            began = time.monotonic()
            status, body = await submitter.call("POST", "/v1/executions", {"execution_kind": "bench", "lane_id": LANE})
            if status != 201:
                sys.exit(f"a submission was answered with {status}: {body[:300]}")
            at, _ = await asyncio.wait_for(answers.get(), 30)
            times.append((at - began) * 1000)
            await asyncio.sleep(0.02)
        figures["handover_median_ms"] = round(statistics.median(times), 2)
        figures["fsync_median_ms"] = round(fsync_ms(folder), 2)
        figures["handover_p95_ms"] = round(statistics.quantiles(times, n=20)[-1], 2)
    finally:
        for task in polls:
            task.cancel()
        server.close()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--ff", default="build/release/ff")
    parser.add_argument("--polls", type=int, default=2000)
    parser.add_argument("--idle-s", type=float, default=30)
    parser.add_argument("--submits", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.ff = os.path.abspath(options.ff)

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with tempfile.TemporaryDirectory() as folder:
        figures = asyncio.run(measure(options, folder))
    if options.json:
        return print(json.dumps(figures))
    print(f"from the start of the process to /readyz 200   {figures['ready_ms']:8.1f} ms    (aim: below 300)")
    print(f"memory, idle, before any connection            {figures['idle_mb']:8.1f} MB    (aim: below 40)")
    print(f"memory with {figures['waiting']:5} claims that wait           {figures['polls_mb']:8.1f} MB    (aim: below 150)")
    print(f"of a core meanwhile                            {figures['polls_cpu_percent']:8.2f} %     (aim: below 5)")
    print(f"submission to the claim's answer, median       {figures['handover_median_ms']:8.2f} ms    (aim: below 5)")
    print(f"the same, 95 of 100                            {figures['handover_p95_ms']:8.2f} ms")
    print(f"one fsync of this disk, median                 {figures['fsync_median_ms']:8.2f} ms    (a hand-over waits for two)")


if __name__ == "__main__":
    main()
