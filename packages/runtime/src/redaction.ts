import { createContext, Script } from 'node:vm'

/** What a redactor hides. */
export interface RedactionOptions {
  /** Patterns, separated by `,` or `;` (AC23). */
  redact: string
  /** Texts that are hidden wherever they stand. */
  secrets: readonly string[]
  /** Hears of a text that was hidden as a whole. */
  onError: (error: unknown) => void
}

const mark = '***REDACTED***'
/** Of one text, all patterns together. A pattern that backtracks longer than this costs the whole text. */
const budgetMs = 20
const attempts = 5
const maxRemembered = 1_000
/** Longer texts aren't remembered, in UTF-16 units. */
const rememberedLength = 4_096

/**
 * Returns a function that hides secrets in a text (AC23): every literal of `secrets`, and what the patterns of `redact`
 * match, each a regular expression, or a literal where it doesn't compile. A text on which the patterns take longer
 * than 20 ms is hidden as a whole, and reported; the results for the last short texts are remembered, since a
 * tool's argv rarely changes.
 */
export function createRedactor ({ redact, secrets, onError }: RedactionOptions): (text: string) => string {
  const literals = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length)
  const patterns = redact.split(/[,;]/).map(part => part.trim()).filter(part => part !== '').map(toPattern)
  const replacePatterns = patterns.length === 0 ? (text: string) => text : createReplacer(patterns, onError)
  const remembered = new Map<string, string>()

  return text => {
    const before = remembered.get(text)
    if (before !== undefined) return before
    const after = replacePatterns(literals.reduce((rest, literal) => rest.replaceAll(literal, () => mark), text))
    if (text.length > rememberedLength) return after
    if (remembered.size >= maxRemembered) remembered.clear()
    remembered.set(text, after)
    return after
  }
}

function toPattern (source: string): RegExp {
  try {
    return new RegExp(source, 'g')
  } catch {
    return new RegExp(source.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g')
  }
}

/** In a context of its own, because only there V8 stops a running expression. */
function createReplacer (patterns: RegExp[], onError: (error: unknown) => void): (text: string) => string {
  const globals = { text: '', patterns, mark }
  const context = createContext(globals)
  const script = new Script('patterns.reduce((rest, pattern) => rest.replace(pattern, found => found === "" ? "" : mark), text)')
  return text => {
    globals.text = text
    for (let attempt = 1; ; attempt++) {
      const before = process.cpuUsage()
      try {
        return script.runInContext(context, { timeout: budgetMs }) as string
      } catch (error) {
        if (attempt < attempts && !hasComputed(before)) continue
        onError(error)
        return mark
      }
    }
  }
}

/** V8's timeout is one of the clock: on a busy machine it ends an expression that has hardly begun. */
function hasComputed (before: NodeJS.CpuUsage): boolean {
  const { user, system } = process.cpuUsage(before)
  return user + system >= budgetMs * 1_000 / 2
}
