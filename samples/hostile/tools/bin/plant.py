#!/usr/bin/python3
"""
Plants in the workspace what could hold up, mislead or give rights to whoever comes after: entries of every kind in the
places where Toolyard has ever kept something of its own, and a program with the setuid bit. Prints what it planted.
"""
import hashlib
import json
import os
import sys

FAR = 4_000_000_000


def own_names(files):
    """The locks of files, as they were once called, and where a canary could write."""
    for file in files:
        yield f".toolyard-{hashlib.sha256(file.encode()).hexdigest()[:32]}.lock"
    for pid in range(1, 300):
        yield f".toolyard-canary-{pid}"


def plant(name, kind):
    if kind == "fifo":
        os.mkfifo(name)
    elif kind == "directory":
        os.makedirs(os.path.join(name, "full"))
    elif kind == "link":
        os.symlink("another-machine 1 1 alive", name)
    else:
        with open(name, "w") as file:
            file.truncate(1 << 29)
    os.utime(name, (FAR, FAR), follow_symlinks=False)


given = json.load(sys.stdin)
planted = []
for name in [*own_names(given["files"]), *given.get("names", [])]:
    try:
        plant(name, given["kind"])
        planted.append(name)
    except OSError:
        continue
bits = None
try:
    with open("program", "w") as file:
        file.write("#!/bin/sh\nid -u\n")
    os.chmod("program", 0o6755)
    bits = oct(os.stat("program").st_mode & 0o7000)
except OSError:
    bits = "refused"
json.dump({"planted": len(planted), "bits": bits}, sys.stdout)
