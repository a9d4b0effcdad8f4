#!/usr/bin/env python3
"""csv_summary: the columns of a workspace CSV file with their types and ranges. Arguments: {"path"}, {"delimiter"}."""

import csv
import math
import sys

sys.dont_write_bytecode = True

from lib.call import CallError, answer, workspace_path  # noqa: E402

MAX_COLUMNS = 200
MAX_DISTINCT = 1000


def main(arguments):
    delimiter = arguments.get("delimiter", ",")
    if delimiter not in (",", ";", "\t", "|"):
        raise CallError("delimiter must be one of: comma, semicolon, tab, pipe")
    path = workspace_path(arguments, "path")
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return {"path": arguments["path"], **summary(csv.reader(file, delimiter=delimiter))}
    except UnicodeDecodeError:
        raise CallError(f"file is not UTF-8 text: {arguments['path']}") from None
    except csv.Error as error:
        raise CallError(f"file is not CSV ({error}): {arguments['path']}") from None


def summary(reader):
    names = next(reader, [])
    if not names:
        raise CallError("file has no header row")
    if len(names) > MAX_COLUMNS:
        raise CallError(f"file has more than {MAX_COLUMNS} columns")
    columns = [Column(name) for name in names]
    rows = ragged = 0
    for row in reader:
        if not row:
            continue
        rows += 1
        ragged += len(row) != len(columns)
        for index, column in enumerate(columns):
            column.add(row[index] if index < len(row) else "")
    return {"rows": rows, "ragged_rows": ragged, "columns": [column.summary() for column in columns]}


class Column:
    """What is known of one column after each of its values was seen once."""

    def __init__(self, name):
        self.name = name
        self.missing = 0
        self.texts = 0
        self.numbers = 0
        self.integers = 0
        self.total = 0.0
        self.least = math.inf
        self.greatest = -math.inf
        self.first = None
        self.last = None
        self.distinct = set()

    def add(self, text):
        text = text.strip()
        if text == "":
            self.missing += 1
            return
        self.first = text if self.first is None else min(self.first, text)
        self.last = text if self.last is None else max(self.last, text)
        if len(self.distinct) <= MAX_DISTINCT:
            self.distinct.add(text)
        number = parse_number(text)
        if number is None:
            self.texts += 1
        else:
            self.add_number(number)

    def add_number(self, number):
        self.numbers += 1
        self.integers += isinstance(number, int)
        self.total += number
        self.least = min(self.least, number)
        self.greatest = max(self.greatest, number)

    def summary(self):
        shown = {"name": self.name, "type": self.type(), "missing": self.missing}
        if self.numbers > 0 and self.texts == 0:
            mean = self.total / self.numbers
            return {**shown, "min": self.least, "max": self.greatest, "mean": round(mean, 6) if math.isfinite(mean) else None}
        if self.texts > 0:
            many = len(self.distinct) > MAX_DISTINCT
            return {**shown, "min": self.first, "max": self.last, "distinct": f"more than {MAX_DISTINCT}" if many else len(self.distinct)}
        return shown

    def type(self):
        if self.texts > 0:
            return "text"
        if self.numbers == 0:
            return "empty"
        return "integer" if self.integers == self.numbers else "number"


def parse_number(text):
    """A decimal number as it is written in data; int() and float() alone would also take 1_000, nan and infinity."""
    if len(text) > 40 or not text.isascii() or text.strip("0123456789+-.eE") != "":
        return None
    for parse in (int, float):
        try:
            number = parse(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else None
    return None


if __name__ == "__main__":
    answer(main)
