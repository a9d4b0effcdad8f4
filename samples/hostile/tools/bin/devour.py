#!/usr/bin/python3
"""Takes as much of one resource as it gets and prints how much that was."""
import json
import os
import sys
import time

# Enough to show that there is no limit, without ruining a machine that has none.
MOST_PROCESSES = 2_000
MOST_BYTES = 2 ** 31
CHUNK = 2 ** 24


def processes():
    count = 0
    while count < MOST_PROCESSES:
        try:
            pid = os.fork()
        except OSError:
            break
        if pid == 0:
            os.setsid()
            time.sleep(600)
            os._exit(0)
        count += 1
    return count


def memory():
    held = []
    try:
        while len(held) * CHUNK < MOST_BYTES:
            held.append(b"\1" * CHUNK)
    except MemoryError:
        pass
    return len(held) * CHUNK


def disk():
    written = 0
    try:
        with open("/tmp/devoured", "wb") as file:
            while written < MOST_BYTES:
                written += file.write(b"\1" * CHUNK)
                file.flush()
    except OSError:
        pass
    return written


if __name__ == "__main__":
    json.dump({"taken": {"processes": processes, "memory": memory, "disk": disk}[json.load(sys.stdin)["what"]]()}, sys.stdout)
