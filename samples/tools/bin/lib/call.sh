# One tool call, for tools in sh: their arguments are whole numbers only, because free text in JSON needs a parser.

export LC_ALL=C

# Ends the call as a failure. The message must not need escaping in JSON.
fail () {
  printf '{"error":"%s"}\n' "$1" >&2
  exit 1
}

# Reads one JSON object of whole numbers from stdin and prints its members as name=number, a line each.
# Fails when stdin is anything else.
read_numbers () {
  awk '
    function skip(pattern) {
      if (!match(text, "^[ \t\r\n]*" pattern)) return 0
      token = substr(text, 1, RLENGTH)
      text = substr(text, RLENGTH + 1)
      gsub(/[ \t\r\n"]/, "", token)
      return 1
    }
    function member() {
      if (!skip("\"[a-z_]+\"")) return 0
      name = token
      if (!skip(":") || !skip("-?[0-9]+")) return 0
      print name "=" token
      return 1
    }
    function object() {
      if (!skip("[{]")) return 0
      if (skip("[}]")) return 1
      do {
        if (!member()) return 0
      } while (skip(","))
      return skip("[}]")
    }
    { text = text $0 "\n" }
    END { exit (text ~ /^[ \t\r\n]*$/ || (object() && text ~ /^[ \t\r\n]*$/)) ? 0 : 1 }
  '
}

# Ends the call with an error that names the argument $1, unless its value $2 is a whole number $3..$4.
in_range () {
  case $2 in
    '' | *[!0-9]* | ?????????*) fail "$1 must be an integer $3..$4" ;;
  esac
  [ "$2" -ge "$3" ] && [ "$2" -le "$4" ] || fail "$1 must be an integer $3..$4"
}

# awk functions: quote(text) is the text as a JSON string; bytes above 127 pass as they are.
# shellcheck disable=SC2034
json_awk='
  function quote(text,   out, i, char) {
    if (text !~ /[\001-\037"\\]/) return "\"" text "\""
    for (i = 1; i <= length(text); i++) {
      char = substr(text, i, 1)
      if (char == "\"" || char == "\\") out = out "\\" char
      else if (char ~ /[\001-\037]/) out = out sprintf("\\u%04x", index(controls, char))
      else out = out char
    }
    return "\"" out "\""
  }
  BEGIN { for (code = 1; code < 32; code++) controls = controls sprintf("%c", code) }
'
