"""
Starts the host of one Python root: `toolyard_host.py ROOT CONTROL`; CONTROL is a descriptor. With `MODULE NAME [FILE]` behind
it, the process of one call in the open; NAME is what the manifest calls the module, FILE the only one that it may be.
"""

import os
import sys

# Only for this import: what is imported later is the tools' own, and found without this directory.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from toolyard._host import host, plain

sys.path.pop(0)

if __name__ == "__main__":
    root, descriptor, *module = sys.argv[1:]
    if module:
        plain.main(root, int(descriptor), *module)
    host.main(root, int(descriptor))
