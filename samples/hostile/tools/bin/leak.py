#!/usr/bin/python3
"""Puts out what operators hide (`REDACT`) in every way that it has, and fails."""
import sys

print("the password hunter2 is wrong")
print("the password hunter2 is wrong", file=sys.stderr)
sys.exit(1)
