import { linearEngine, PatternRefused } from './pattern.ts'

/** Says of a text whether a pattern forbids it: `unsure` where the engine here could judge it otherwise than the author's. */
export type DenyTest = (text: string) => 'denied' | 'allowed' | 'unsure'

const most = { chars: 1_000, instructions: 400, textChars: 2_048 }
/** Both engines read these alike. */
const knownEscape = /\\(?:[dDwWsSbBAzpPntrfvxa]|[^\w<>])/y
/** These match more than ASCII in the author's engine, and ASCII alone here. */
const asciiOnly = /\\[dDwWsSbB]|\[\[:|\(\?[a-z]*i/
const plainText = /^[\t\n\r\x20-\x7e]*$/

/**
 * Compiles a pattern that values must not match. It was written for the engine of Rust, whose syntax is that of RE2 with
 * additions: a pattern with one of those, or one that takes too long, is refused, so that it never forbids less here.
 *
 * @throws PatternRefused
 */
export function denyTest (source: string): DenyTest {
  if (source.length > most.chars) throw new PatternRefused(`is longer than ${most.chars} characters`)
  const fault = syntaxFault(source)
  if (fault !== undefined) throw new PatternRefused(fault)
  const pattern = compiled(source)
  const isNarrow = asciiOnly.test(source)
  return text => {
    if (text.length > most.textChars || (isNarrow && !plainText.test(text))) return 'unsure'
    return pattern.test(text) ? 'denied' : 'allowed'
  }
}

function compiled (source: string): { test (text: string): boolean } {
  try {
    const pattern = linearEngine().RE2JS.compile(source)
    if (pattern.programSize() <= most.instructions) return pattern
  } catch {
    throw new PatternRefused('is not a regular expression that is read here')
  }
  throw new PatternRefused('is too large')
}

/** Additions of Rust's syntax that RE2 would read as something else. */
function syntaxFault (source: string): string | undefined {
  let inClass = false
  for (let at = 0; at < source.length; at++) {
    const two = source.slice(at, at + 2)
    if (source[at] === '\\') {
      knownEscape.lastIndex = at
      if (!knownEscape.test(source) || two === '\\C' || two === '\\Q') return `has the escape ${two}, which is not read here`
      if (/^\\[bB]\{/.test(source.slice(at, at + 3))) return `has ${two}{, which is not read here`
      at++
      continue
    }
    if (!inClass) {
      inClass = source[at] === '['
      // A bracket right behind the opening one is a character of the class.
      if (inClass && /^\^?\]/.test(source.slice(at + 1, at + 3))) at += source[at + 1] === '^' ? 2 : 1
      continue
    }
    if (['&&', '--', '~~'].includes(two)) return `has ${two} in a class, which is not read here`
    if (two === '[:') {
      const end = source.indexOf(':]', at)
      if (end === -1) return 'has a class that is not closed'
      at = end + 1
    } else if (source[at] === '[') {
      return 'has a class in a class, which is not read here'
    } else if (source[at] === ']') {
      inClass = false
    }
  }
  return undefined
}
