import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { extname } from 'node:path'
import { errorCode } from '@toolyard/contract/terms'

/** How a script is started: the words in front of its path; empty for a program of the machine's own format. */
export type Interpreter = { ok: true, words: string[] } | { ok: false, reason: string }

/** Bytes at the beginning of a script that say what it is. */
const headBytes = 4_096
/** Interpreters by the end of a file's name, for files without a line that says so. */
const byName: Readonly<Record<string, readonly string[]>> = {
  '.py': ['python3'], '.sh': ['sh'], '.bash': ['bash'], '.js': ['node'], '.mjs': ['node'], '.cjs': ['node'], '.rb': ['ruby'], '.pl': ['perl']
}
const shells = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh'])

/**
 * The program for a script: by its first line, else by its name. People publish scripts that nobody may execute, so that the permission
 * isn't asked. Programs are given by their names alone: which one that is, the PATH of the call says.
 */
export async function interpreterOf (file: string): Promise<Interpreter> {
  const head = await headOf(file).catch((error: unknown) => errorCode(error))
  if (typeof head !== 'object') return { ok: false, reason: `it can't be read${head === undefined ? '' : ` (${head})`}` }
  return interpreterBy(head.text, file)
}

function interpreterBy (head: string, file: string): Interpreter {
  if (head.startsWith('\u007fELF')) return { ok: true, words: [] }
  const [first = ''] = head.split('\n')
  const words = first.startsWith('#!') ? wordsOf(first.slice(2)) : byName[extname(file).toLowerCase()]
  if (words === undefined || words.length === 0) return { ok: false, reason: 'its first line names no program (#!), and its name has no end that does; run it by a program of SKILL_PROGRAMS' }
  if (shells.has(words[0] ?? '') && head.includes('\r\n')) return { ok: false, reason: 'its lines end with CR LF, which a shell does not take: save it with LF' }
  return { ok: true, words: [...words] }
}

/** `#!/usr/bin/env -S python3 -u` is `python3 -u`; a path is the name at its end. */
function wordsOf (line: string): string[] {
  const words = line.trim().split(/\s+/).filter(word => word !== '')
  const [first = '', ...rest] = words
  const given = nameOf(first) === 'env' ? rest.filter((word, at) => at > 0 || !word.startsWith('-')) : words
  const [program, ...args] = given
  return program === undefined ? [] : [nameOf(program), ...args]
}

function nameOf (path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

async function headOf (file: string): Promise<{ text: string }> {
  // Without O_NONBLOCK the open of a FIFO that took its place would wait for a writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headBytes), 0, headBytes, 0)
    return { text: buffer.toString('latin1', 0, bytesRead) }
  } finally {
    await handle.close()
  }
}
