#!/usr/bin/env python3
"""A whole worker over plain HTTP, with nothing but Python's standard library.

    FF_URL=http://127.0.0.1:9090 FF_TOKEN=... examples/worker_in_any_language.py

It introduces itself, waits for work of the kind `shout`, keeps the lease of what it works on, sends each outcome until
it is acknowledged, and takes itself off the list when it is asked to end. docs/worker-in-any-language.md says what each
call means.
"""

import json
import os
import random
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

URL = os.environ.get("FF_URL", "http://127.0.0.1:9090")
TOKEN = os.environ.get("FF_TOKEN")
INSTANCE = f"{socket.gethostname()}-{os.getpid()}-{random.randrange(2**32):08x}"
LEASE_MS = 10_000
LOST = {"execution_not_active", "lease_revoked", "stale_lease", "lease_expired", "execution_not_found"}
ending = threading.Event()


class Refused(Exception):
    """The server said no: `code` says why, `retryable` whether the same call may succeed later."""

    def __init__(self, problem):
        super().__init__(problem.get("detail", ""))
        self.code = problem.get("code", "")
        self.retryable = problem.get("retryable", False)


def call(path, body, timeout_s=30):
    headers = {"Content-Type": "application/json"}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    request = urllib.request.Request(URL + path, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise Refused(json.load(error)) from None


def patiently(path, body):
    """Repeats a call until it is answered. A repeat of one that had arrived gets the first answer again."""
    pause_s = 0.05
    while True:
        try:
            return call(path, body)
        except Refused as refused:
            if not refused.retryable:
                raise
        except OSError:
            pass  # nobody there; try again
        time.sleep(pause_s)
        pause_s = min(1.0, 2 * pause_s)


def shout(payload):
    if not isinstance(payload, dict) or "text" not in payload:
        raise ValueError("the payload has no text")
    return {"text": payload["text"].upper() + "!"}


def keep(handle, done, lost):
    """Renews the lease at a third of its time; what the answer says may end the task."""
    while not done.wait(LEASE_MS / 3000):
        try:
            call("/v1/worker/renew", {"handle": handle})
        except Refused as refused:
            if refused.code in LOST:
                lost.set()
                return
        except OSError:
            pass  # the next one may arrive


def work(task):
    done, lost = threading.Event(), threading.Event()
    keeper = threading.Thread(target=keep, args=(task["handle"], done, lost))
    keeper.start()
    try:
        try:
            path, outcome = "/v1/worker/complete", {"result": shout(task.get("payload"))}
        except ValueError as error:  # no retry helps
            path, outcome = "/v1/worker/fail", {"message": str(error), "class": "permanent"}
        except Exception as error:  # tried again, as its policy says
            path, outcome = "/v1/worker/fail", {"message": str(error)}
        if not lost.is_set():
            patiently(path, {"handle": task["handle"], **outcome})
    except Refused as refused:
        print(f"an outcome was refused: {refused.code}: {refused}", flush=True)
    finally:
        done.set()
        keeper.join()


def introduce():
    return patiently("/v1/worker/register", {
        "worker_id": "python", "worker_instance_id": INSTANCE, "lanes": ["default"], "kinds": ["shout"],
        "max_concurrent_tasks": 1})


def stay_on_the_list():
    pause_s = introduce()["heartbeat_after_ms"] / 1000
    while not ending.wait(pause_s):
        try:
            call("/v1/worker/heartbeat", {"worker_instance_id": INSTANCE})
        except Refused as refused:
            if refused.code == "worker_not_found":
                introduce()
        except OSError:
            pass


def main():
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ending.set())
    threading.Thread(target=stay_on_the_list, daemon=True).start()
    pause_s = 0.05
    while not ending.is_set():
        try:
            answer = call("/v1/worker/claim", {
                "worker_id": "python", "worker_instance_id": INSTANCE, "lanes": ["default"], "kinds": ["shout"],
                "max": 1, "wait_ms": 2000, "lease_ttl_ms": LEASE_MS})
            for task in answer["tasks"]:
                work(task)
            pause_s = 0.05
        except (Refused, OSError) as error:
            if isinstance(error, Refused) and not error.retryable:
                raise
            time.sleep(pause_s)
            pause_s = min(1.0, 2 * pause_s)
    patiently("/v1/worker/deregister", {"worker_instance_id": INSTANCE})


if __name__ == "__main__":
    main()
