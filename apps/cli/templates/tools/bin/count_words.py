#!/usr/bin/env python3
import json
import sys

path = json.load(sys.stdin)["path"]
try:
    with open(path, encoding="utf-8") as file:
        print(json.dumps({"words": len(file.read().split())}))
except OSError as error:
    # A failure is told on stderr, with another exit status than 0. The model reads it.
    print(json.dumps({"error": f"{path}: {error.strerror}"}), file=sys.stderr)
    sys.exit(1)
