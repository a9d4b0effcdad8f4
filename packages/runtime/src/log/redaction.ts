import { hiddenText, orElse } from '@toolyard/contract/terms'
import { createContext, Script } from 'node:vm'

interface RedactionOptions {
  /** Patterns, separated by `,` or `;`. */
  redact: string
  /** Texts that are hidden wherever they stand. */
  secrets: readonly string[]
  /** Gets the error for which a text was hidden as a whole. */
  onError: (error: unknown) => void
}

/** Hides secrets in texts, in their order. */
export type Redact = (texts: readonly string[]) => string[]

/** Of all texts of one call, all patterns together. What they haven't gone through by then is hidden. */
const budgetMs = 20
const attempts = 5
const maxRemembered = 1_000
/** Longer texts aren't remembered, in UTF-16 units. */
const rememberedLength = 4_096

/**
 * Returns a function that hides secrets in texts: every literal of `secrets`, and what the patterns of `redact`
 * match, each a regular expression, or a literal where it doesn't compile. Patterns may take 20 ms for all texts of one
 * call, or of one page: texts that they don't come to, or don't end with, are hidden as a whole, and that is reported.
 * The results for the last short texts are remembered, since a tool's argv rarely changes.
 */
export function createRedactor ({ redact, secrets, onError }: RedactionOptions): () => Redact {
  const literals = secrets.filter(secret => secret !== '').sort((a, b) => b.length - a.length)
  const patterns = redact.split(/[,;]/).map(part => part.trim()).filter(part => part !== '').map(toPattern)
  const replacer = patterns.length === 0 ? undefined : createReplacer(patterns, onError)
  const remembered = new Map<string, string>()
  const withoutLiterals = (text: string): string => literals.reduce((rest, literal) => rest.replaceAll(literal, () => hiddenText), text)
  if (replacer === undefined) return () => texts => texts.map(withoutLiterals)

  return () => {
    const budget = { leftMs: budgetMs }
    return texts => {
      // Short ones first: one that takes all the time shall cost few others.
      const fresh = [...new Set(texts)].filter(text => !remembered.has(text)).sort((a, b) => a.length - b.length)
      const results = new Map(replacer(fresh.map(withoutLiterals), budget).map((after, index) => [fresh[index] ?? '', after]))
      const redacted = texts.map(text => results.get(text) ?? remembered.get(text) ?? hiddenText)
      for (const [text, after] of results) {
        if (text.length > rememberedLength) continue
        if (remembered.size >= maxRemembered) remembered.clear()
        remembered.set(text, after)
      }
      return redacted
    }
  }
}

function toPattern (source: string): RegExp {
  return orElse(() => new RegExp(source, 'g'), new RegExp(source.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'g'))
}

/** The rest of one call's time. */
interface Budget {
  leftMs: number
}

/**
 * In a context of its own, because only there V8 stops a running expression. All texts are one run, since a run with a
 * time limit starts a thread. The replacer gives the results of those that were gone through, and of the one that took
 * too long: that it is hidden shall be remembered.
 */
function createReplacer (patterns: RegExp[], onError: (error: unknown) => void): (texts: readonly string[], budget: Budget) => string[] {
  const globals = { texts: [] as readonly string[], done: [] as string[], patterns, hiddenText }
  const context = createContext(globals)
  const script = new Script('while (done.length < texts.length) done.push(patterns.reduce((rest, pattern) => rest.replace(pattern, found => found === "" ? "" : hiddenText), texts[done.length]))')
  return (texts, budget) => {
    const done: string[] = []
    Object.assign(globals, { texts, done })
    for (let attempt = 1; done.length < texts.length && budget.leftMs > 0; attempt++) {
      const before = now()
      try {
        script.runInContext(context, { timeout: Math.ceil(budget.leftMs) })
        budget.leftMs -= now() - before
      } catch (error) {
        const usedMs = now() - before
        // V8's timeout is one of the clock: on a busy machine it ends an expression that has hardly begun.
        if (attempt < attempts && usedMs < budget.leftMs / 2) continue
        budget.leftMs = 0
        done.push(hiddenText)
        onError(error)
      }
    }
    return done
  }
}

/** Processor time of this process, in milliseconds. */
function now (): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
