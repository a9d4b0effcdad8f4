#!/usr/bin/env sh
# recent_files: the files of the workspace that changed last, newest first; hidden files and folders are left out.
# Arguments: {"limit"}, {"days"}.
set -eu
. "$(dirname -- "$0")/lib/call.sh"

tab=$(printf '\t')
limit=20
days=36500
arguments=$(read_numbers) || fail 'arguments must be a JSON object of whole numbers'
for argument in $arguments; do
  case $argument in
    limit=*) limit=${argument#*=} ;;
    days=*) days=${argument#*=} ;;
    *) fail "unknown argument: ${argument%%=*}" ;;
  esac
done
in_range limit "$limit" 1 200
in_range days "$days" 1 36500

# GNU and busybox know -c, BSD and macOS know -f.
if stat -c %Y . >/dev/null 2>&1; then
  set -- stat -c '%Y %s %n'
else
  set -- stat -f '%m %z %N'
fi

# A path may hold line feeds, but never two slashes in a row: with them in front, a line without them continues a path.
{ find .//. -name '.?*' -prune -o -type f -mtime "-$days" -exec "$@" {} + 2>/dev/null || :; } |
  awk "$json_awk"'
    function flush() { if (changed != "") print changed "\t" size "\t" quote(path) }
    /^-?[0-9]+ [0-9]+ \.\/\/\.\// { flush(); changed = $1; size = $2; path = substr($0, index($0, ".//./") + 5); next }
    { path = path "\n" $0 }
    END { flush() }
  ' |
  sort -t "$tab" -k 1,1nr -k 3 |
  awk -F '\t' -v limit="$limit" '
    # Days since 1970 to a date, by the length of the 400 years that the calendar repeats in.
    function iso(time,   days, rest, era, day, year, month) {
      days = int(time / 86400)
      if (days * 86400 > time) days--
      rest = time - days * 86400
      days += 719468
      era = int(days / 146097)
      day = days - era * 146097
      year = int((day - int(day / 1460) + int(day / 36524) - int(day / 146096)) / 365)
      day -= 365 * year + int(year / 4) - int(year / 100)
      month = int((5 * day + 2) / 153)
      day -= int((153 * month + 2) / 5) - 1
      month += month < 10 ? 3 : -9
      year += era * 400 + (month <= 2)
      return sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", year, month, day, int(rest / 3600), int(rest / 60) % 60, rest % 60)
    }
    NR <= limit { files = files (NR > 1 ? "," : "") "{\"path\":" $3 ",\"bytes\":" $2 ",\"modified\":\"" iso($1) "\"}" }
    END { printf "{\"count\":%d,\"files\":[%s]}\n", NR, files }
  '
