#!/usr/bin/env sh
# disk_usage: the space on disk of each file and folder at the top of the workspace, largest first. Arguments: {"limit"}.
set -eu
. "$(dirname -- "$0")/lib/call.sh"

tab=$(printf '\t')
limit=20
arguments=$(read_numbers) || fail 'arguments must be a JSON object of whole numbers'
for argument in $arguments; do
  case $argument in
    limit=*) limit=${argument#*=} ;;
    *) fail "unknown argument: ${argument%%=*}" ;;
  esac
done
in_range limit "$limit" 1 1000

# du prints SIZE<TAB>./NAME. A name may hold a line feed but no slash, so a line without that start continues a name,
# and /unreadable can't be one.
{ find . ! -name . -prune -exec du -sk {} + 2>/dev/null || echo /unreadable; } |
  awk "$json_awk"'
    function flush() { if (size != "") print size "\t" quote(name) }
    $0 == "/unreadable" { print "0\t/unreadable"; next }
    /^[0-9]+\t\.\// { flush(); size = $1; name = substr($0, index($0, "\t") + 3); next }
    { name = name "\n" $0 }
    END { flush() }
  ' |
  sort -t "$tab" -k 1,1nr -k 2 |
  awk -F '\t' -v limit="$limit" '
    $2 == "/unreadable" { unreadable = 1; next }
    { total += $1; count++ }
    count <= limit { largest = largest (count > 1 ? "," : "") "{\"path\":" $2 ",\"kib\":" $1 "}" }
    END {
      printf "{\"total_kib\":%.0f,\"entries\":%d,\"complete\":%s,\"largest\":[%s]}\n", total, count, unreadable ? "false" : "true", largest
    }
  '
