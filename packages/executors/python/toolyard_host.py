"""Starts the host of one Python root: `toolyard_host.py ROOT CONTROL`; CONTROL is a descriptor."""

import os
import sys

# Only for this import: what is imported later is the tools' own, and found without this directory.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from toolyard._host.host import main

sys.path.pop(0)

if __name__ == "__main__":
    main(root=sys.argv[1], descriptor=int(sys.argv[2]))
