#!/usr/bin/python3
"""
Lays what takes whoever comes after long to work on. Prints for `edit` a call of data_write_file that looks for 100 kB of
equal letters in a file of equal letters, which it has made, and for `page` a page of nested tags.
"""
import json
import sys

if json.load(sys.stdin)["what"] == "edit":
    with open("equal", "w") as file:
        file.write("a" * (1 << 20))
    json.dump({"path": "equal", "mode": "edit", "old_text": "b" + "a" * 100_000, "new_text": ""}, sys.stdout)
else:
    sys.stdout.write("<b>" * 180_000 + "<div>" * 100_000)
