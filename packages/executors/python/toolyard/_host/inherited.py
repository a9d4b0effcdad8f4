"""What a call inherits of its module: files that the import has left open."""

from __future__ import annotations

import os
import socket
import stat


def shut_ways_out(network: bool) -> None:
    """
    Puts /dev/null in the place of what leads out of the inner box: directories, whose `..` are those of the template, where
    other calls can be seen in /proc; and without `network`, sockets of the template's network. Pairs of sockets, pipes
    and files stay as they are.
    """
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        try:
            mode = os.fstat(descriptor).st_mode
        except OSError:  # That of the listing.
            continue
        if stat.S_ISDIR(mode) or stat.S_ISLNK(mode) or (stat.S_ISSOCK(mode) and not network and not _is_of_pair(descriptor)):
            # Not closed: its number stays its owner's.
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, descriptor, os.get_inheritable(descriptor))
            os.close(null)


def _is_of_pair(descriptor: int) -> bool:
    """A template can open no other Unix sockets."""
    copy = os.dup(descriptor)
    try:
        with socket.socket(fileno=copy) as of_pair:
            return of_pair.family == socket.AF_UNIX
    except OSError:
        os.close(copy)
        return False
