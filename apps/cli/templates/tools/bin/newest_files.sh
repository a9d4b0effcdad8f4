#!/bin/sh
# The working directory is the workspace. What isn't JSON is the output as a text.
cat > /dev/null
ls -t
