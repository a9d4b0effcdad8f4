"""Prints the types of the Python client as JSON: of each field whether it is required, and what it may be."""

import json
import types
import typing
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import toolyard._file_types
import toolyard._types

kinds: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null", Any: "any"}


def shape(hint: Any) -> list[Any]:
    """The kinds of JSON that a type allows; a literal's values stand for themselves."""
    if get_origin(hint) in (Union, types.UnionType):
        return sorted((kind for part in get_args(hint) for kind in shape(part)), key=str)
    if get_origin(hint) is Literal:
        return sorted(get_args(hint), key=str)
    if get_origin(hint) is list:
        return ["array"]
    if get_origin(hint) is dict or typing.is_typeddict(hint):
        return ["object"]
    return [kinds[hint]]


modules = (toolyard._types, toolyard._file_types)
found = {name: each for module in modules for name, each in vars(module).items() if typing.is_typeddict(each)}


def fields(each: Any) -> dict[str, Any]:
    return {name: {"required": name in each.__required_keys__, "shape": shape(hint)} for name, hint in get_type_hints(each).items()}


print(json.dumps({name: fields(each) for name, each in found.items()}))
