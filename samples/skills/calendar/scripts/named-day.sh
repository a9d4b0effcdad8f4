#!/bin/sh
# Prints the date of a named day. Prints nothing for any other word: the caller keeps it, then.
set -eu

month=$(date -u +%Y-%m-01)
year=$(date -u +%Y)

case "$1" in
  month-start) echo "$month" ;;
  month-end) date -u -d "$month +1 month -1 day" +%F ;;
  year-start) echo "$year-01-01" ;;
  year-end) echo "$year-12-31" ;;
esac
