#!/usr/bin/python3
"""
Swaps two entries of the workspace again and again, for some seconds: a directory and a link that leads out, so that
whoever looks up a path twice, or checks it before using it, is led outside. Prints how often it swapped.
"""
import ctypes
import json
import os
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD, RENAME_EXCHANGE = -100, 2


def swap(one, other):
    if LIBC.renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) != 0:
        raise OSError(ctypes.get_errno(), "renameat2")


given = json.load(sys.stdin)
one, other = os.fsencode(given["one"]), os.fsencode(given["other"])
end = time.monotonic() + given["seconds"]
swaps = 0
while time.monotonic() < end:
    for _ in range(100):
        swap(one, other)
    swaps += 100
json.dump({"swaps": swaps}, sys.stdout)
