/** Linux reads so much of a program to find out how it is run. */
export const firstLineBytes = 256

/** How a script's first line has it run. */
export interface FirstLine {
  /** Absent in a text without `#!`. */
  interpreter?: string
  /** The NAME of `#!/usr/bin/env NAME`, or `env -S NAME ...`; absent in other lines, and with other options. */
  lookedUp?: string
  /** The line ends in CR LF: the kernel takes the CR for a part of the interpreter's name. */
  crlf: boolean
  /** A byte order mark stands before the `#!`: the kernel doesn't take it for a script. */
  marked?: true
}

/** Reads the first line of a program; undefined for a binary. */
export function readFirstLine (head: Buffer): FirstLine | undefined {
  const text = head.toString('latin1')
  const [line = ''] = text.split('\n', 1)
  const crlf = line.endsWith('\r')
  if (!text.startsWith('#!')) return text.includes('\0') ? undefined : { crlf, ...text.startsWith('\xef\xbb\xbf#!') && { marked: true } }
  const named = line.slice(2).trim()
  const [interpreter = ''] = named.split(/[ \t]/, 1)
  const rest = named.slice(interpreter.length).trim()
  const lookedUp = /^(?:-S|--split-string[= ])\s*([^-=\s"'\\$][^=\s"'\\$]*)(?:\s|$)/.exec(rest)?.[1] ?? rest
  return { interpreter, ...(interpreter.endsWith('/env') && /^[^-=][^=]*$/.test(lookedUp) ? { lookedUp } : {}), crlf }
}

/** Of a script whose first line ends in CR LF. */
export const crlfText = 'its lines end in CR LF, as on Windows, so the kernel looks for an interpreter whose name ends in CR; save it with LF alone'
/** Of a text that can't be started. */
export const noFirstLineText = 'it is neither a binary nor a script with a #! line'
/** Of a script that begins with a byte order mark. */
export const markedText = 'a byte order mark stands before its #! line, so the kernel takes it for no script; save it as UTF-8 without one'
