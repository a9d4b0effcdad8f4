"""Resource limits of a template and of a call. See getrlimit(2)."""

from __future__ import annotations

import resource

_CALL_LIMITS = (
    (resource.RLIMIT_DATA, "memoryBytes"),
    (resource.RLIMIT_FSIZE, "fileBytes"),
    (resource.RLIMIT_NPROC, "processes"),
    (resource.RLIMIT_NOFILE, "openFiles"),
)


def limit_template(limits: dict[str, int]) -> None:
    """Lightly: its calls inherit what can't be undone, and are many."""
    _set_limit(resource.RLIMIT_DATA, limits["memoryBytes"], resource.RLIM_INFINITY)
    _set_limit(resource.RLIMIT_CORE, 0, 0)


def limit_call(limits: dict[str, int]) -> None:
    """The process, and all that it starts."""
    for which, key in _CALL_LIMITS:
        _set_limit(which, limits[key], limits[key])
    _set_limit(resource.RLIMIT_CPU, limits["cpuSec"], limits["cpuSec"] + 1)
    # What the kernel counts for the worker's user; see sandbox/limits.ts.
    for name, most in (("RLIMIT_SIGPENDING", 1024), ("RLIMIT_MSGQUEUE", 65536)):
        if hasattr(resource, name):
            _set_limit(getattr(resource, name), most, most)


def _set_limit(which: int, soft: int, hard: int) -> None:
    """At most what is left of the limit that was there."""
    most = resource.getrlimit(which)[1]
    resource.setrlimit(which, (_lower(soft, most), _lower(hard, most)))


def _lower(limit: int, most: int) -> int:
    if resource.RLIM_INFINITY in (limit, most):
        return most if limit == resource.RLIM_INFINITY else limit
    return min(limit, most)
