"""The pipes of a process in a box. Pipes, because through a socket a tool could send the worker its open files."""

from __future__ import annotations

import os

from .channel import Channel
from .streams import read_nothing


class Pipes:
    """The three pipes of a process that is about to be forked; the worker opens its ends in the forking process."""

    def __init__(self) -> None:
        """Makes them."""
        opened: list[int] = []
        try:
            for _ in range(3):
                opened += os.pipe()
        except OSError:
            _close(opened)
            raise
        self._requests, requests_in, replies_out, self._replies, output_out, self._output = opened
        self.offered = (requests_in, replies_out, output_out)
        """The worker's ends: to write requests to, to read replies from, to read what is printed from."""

    def take(self) -> Channel:
        """In the new process: what is printed from now on goes to the worker. Returns the channel for messages."""
        read_nothing()
        for descriptor in (1, 2):
            os.dup2(self._output, descriptor)
        _close((self._output, *self.offered))
        return Channel(self._requests, self._replies)

    def close(self) -> None:
        """In the forking process: closes what is the new process's."""
        _close((self._requests, self._replies, self._output))


def _close(descriptors: list[int] | tuple[int, ...]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
