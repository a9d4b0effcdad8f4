"""
What tools return, as JSON.

A dataclass is an object of its fields, as are instances of classes of attrs. What has `model_dump`, as models of
pydantic do, is what that returns. Paths are strings; in a session they are {"$file": PATH}. Bytes are {"$bytes":
BASE64}, which the worker stores as a file in a session. datetime, date and time are ISO 8601; a timedelta is its
seconds. A Decimal is a string, which keeps its digits, as are fractions, complex numbers, UUIDs and IP addresses.
Members of an Enum are their values. Sets are lists, sorted where their items can be. Tuples, named ones too, other
sequences, generators and other iterators are lists. Whatever has `tolist` or `item`, as arrays and numbers of numpy do,
is what these return. NaN and the infinities are null. Keys of objects that are no strings become the JSON of the key.
Anything else, and a value that contains itself, is refused.
docs/python-tools.md has this as a table.
"""

from __future__ import annotations

import binascii
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set, ValuesView

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    _Handler = Callable[["_Conversion", Any], Any]

# `limits.outputDepth` of the contract.
MAX_DEPTH = 500
# Three frames for each level, and those of the tool.
_RECURSION = 10_000
# What an iterator may yield: one without an end fills no memory.
_MAX_ITEMS = 1_000_000
# What objects are that know it themselves: models of pydantic, arrays and numbers of numpy.
_METHODS = ("model_dump", "tolist", "item")
# The largest numbers that JSON's readers know have 1,024 bits.
_MAX_BITS = 1_023


class NotJson(Exception):
    """A value that has no JSON form; the text says what and where."""


def to_json(value: Any, files: bool = False) -> bytes:
    """The JSON of a returned value, in UTF-8. With `files`, the paths and bytes in it are files."""
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _RECURSION))
    text = _dump(_Conversion(files).convert(value))
    # A lone surrogate, as in undecodable file names, becomes its JSON escape.
    return text.encode("utf-8", "backslashreplace")


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


class _Conversion:
    """One value on its way to JSON: knows where it is, and what it is inside of."""

    def __init__(self, files: bool) -> None:
        self._files = files
        self._path: list[str] = []
        self._open: set[int] = set()
        self._handlers: dict[type, _Handler] = {}

    def convert(self, value: Any) -> Any:
        """A value that `json` takes as it is."""
        kind = type(value)
        handler = self._handlers.get(kind)
        if handler is None:
            handler = self._handlers[kind] = _handler_of(kind)
        return handler(self, value)

    def by_ability(self, value: Any) -> Any:
        if hasattr(value, "__fspath__"):
            path = os.fsdecode(value)
            return {"$file": path} if self._files else path
        if isinstance(value, Mapping):
            return self.mapping(value)
        if isinstance(value, Set):
            return self.unordered(value)
        if isinstance(value, (Sequence, ValuesView)):
            return self.sequence(value)
        if isinstance(value, Iterator) and not hasattr(value, "read"):
            return self.sequence(self._bounded(value))
        if not isinstance(value, type):
            methods = (getattr(value, name, None) for name in _METHODS)
            method: Any = next((found for found in methods if callable(found)), None)
            if method is not None:
                return self._inside(value, lambda: self.convert(method()))
        raise self.refuse(f"is of type {type(value).__name__}, which has no JSON form")

    def integer(self, value: int) -> int:
        if value.bit_length() > _MAX_BITS:
            raise self.refuse("is an integer too large for JSON: return it as a text")
        return int(value)

    def _bounded(self, items: Iterator[Any]) -> Iterator[Any]:
        for count, item in enumerate(items):
            if count >= _MAX_ITEMS:
                raise self.refuse(f"is an iterator of more than {_MAX_ITEMS} items")
            yield item

    def binary(self, value: bytes) -> Any:
        return {"$bytes": binascii.b2a_base64(value, newline=False).decode("ascii")}

    def mapping(self, value: Mapping[Any, Any]) -> Any:
        def convert() -> dict[str, Any]:
            names = ((self._name(key), item) for key, item in value.items())
            converted = {name: self._at(name, item) for name, item in names}
            if len(converted) < len(value):
                raise self.refuse("has two keys that are the same text in JSON")
            return converted

        return self._inside(value, convert)

    def dataclass(self, value: Any) -> Any:
        # Imported already: the value is of a dataclass.
        from dataclasses import fields

        def convert() -> dict[str, Any]:
            names = (field.name for field in fields(value))
            return {name: self._at(name, getattr(value, name)) for name in names}

        return self._inside(value, convert)

    def attributes(self, value: Any) -> Any:
        names = [field.name for field in type(value).__attrs_attrs__]
        return self._inside(value, lambda: {name: self._at(name, getattr(value, name)) for name in names})

    def sequence(self, value: Iterable[Any]) -> Any:
        return self._inside(value, lambda: [self._at(str(index), item) for index, item in enumerate(value)])

    def unordered(self, value: Iterable[Any]) -> Any:
        try:
            ordered = sorted(value)
        except TypeError:
            return sorted(self.sequence(value), key=_dump)
        return self.sequence(ordered)

    def refuse(self, why: str) -> NotJson:
        where = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in self._path)
        return NotJson(f"the output at {where} {why}" if where else f"the output {why}")

    def _name(self, key: Any) -> str:
        converted = self.convert(key)
        return converted if isinstance(converted, str) else _dump(converted)

    def _at(self, name: str, item: Any) -> Any:
        self._path.append(name)
        converted = self.convert(item)
        self._path.pop()
        return converted

    def _inside(self, value: Any, convert: Callable[[], Any]) -> Any:
        if id(value) in self._open:
            raise self.refuse("contains itself")
        if len(self._open) >= MAX_DEPTH:
            raise NotJson(f"the output is nested deeper than {MAX_DEPTH} levels")
        self._open.add(id(value))
        converted = convert()
        self._open.remove(id(value))
        return converted


def _handler_of(kind: type) -> _Handler:
    if hasattr(kind, "__dataclass_fields__"):
        return _Conversion.dataclass
    if hasattr(kind, "__attrs_attrs__"):
        return _Conversion.attributes
    names = (f"{base.__module__}.{base.__qualname__}" for base in kind.__mro__)
    return next((_BY_NAME[name] for name in names if name in _BY_NAME), _Conversion.by_ability)


def _itself(_: _Conversion, value: Any) -> Any:
    return value


def _text(_: _Conversion, value: Any) -> str:
    return str(value)


def _iso(_: _Conversion, value: Any) -> str:
    return str(value.isoformat())


# By the names of classes: the module of a value's class is imported, and no other one needs to be.
_BY_NAME: dict[str, _Handler] = {
    "builtins.NoneType": _itself,
    "builtins.bool": _itself,
    "builtins.str": lambda _, value: str.__str__(value),
    "builtins.int": _Conversion.integer,
    "builtins.float": lambda _, value: float(value) if math.isfinite(value) else None,
    "builtins.dict": _Conversion.mapping,
    "builtins.list": _Conversion.sequence,
    "builtins.tuple": _Conversion.sequence,
    "builtins.complex": _text,
    "builtins.set": _Conversion.unordered,
    "builtins.frozenset": _Conversion.unordered,
    "builtins.bytes": _Conversion.binary,
    "builtins.bytearray": _Conversion.binary,
    "builtins.memoryview": _Conversion.binary,
    "collections.UserString": _text,
    "datetime.date": _iso,
    "datetime.time": _iso,
    "datetime.timedelta": lambda _, value: value.total_seconds(),
    "decimal.Decimal": _text,
    "enum.Enum": lambda conversion, value: conversion.convert(value.value),
    "fractions.Fraction": _text,
    "ipaddress._BaseAddress": _text,
    "ipaddress._BaseNetwork": _text,
    "uuid.UUID": _text,
}
