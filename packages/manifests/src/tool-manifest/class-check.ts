import { readFileBytes } from '../document/manifest-file.ts'

/** Bytes of a source that are looked at; longer ones are not judged. */
const mostBytes = 1_048_576

/** Ways to get a class that no line `class X` declares, or to make another one of it; a source with one of them isn't judged. */
const dynamic = /^@|\bimport[ \t]*(?:\([ \t]*)?\*|__getattr__|\bglobals\b|\bsetattr\b|\bexec\b|\btype[ \t]*\(|\bimportlib\b|\.register\b/m
/** These may say `class X` without declaring it; a text without an end is one too, so that none is read twice. */
const textOrComment = /"""(?:\\[\s\S]|[^\\])*?(?:"""|\\?(?![\s\S]))|'''(?:\\[\s\S]|[^\\])*?(?:'''|\\?(?![\s\S]))|"(?:\\[\s\S]|[^"\\\n])*(?:"|\\?$)|'(?:\\[\s\S]|[^'\\\n])*(?:'|\\?$)|#[^\n]*/gm

/**
 * Faults of the class that a tool names, as far as the text of its module tells without running it:
 * the end of a message, or undefined. Only what is certain is said; a class that is imported, or made at run time, is
 * left to the worker.
 */
export async function classFault (file: string, className: string | undefined): Promise<string | undefined> {
  const text = await sourceOf(file)
  if (text === undefined || dynamic.test(text)) return undefined
  const source = text.replace(textOrComment, "''")
  if (className === undefined) return /^[ \t]*class[ \t]+[^\s([:]+[ \t]*[([]/m.test(source) ? undefined : 'no Tool subclass found in module'
  if (!text.includes(className)) return `class_name '${className}' not found in module`
  const bases = basesOf(source, className)
  return bases?.trim() === '' ? `class_name '${className}' must inherit from Tool` : undefined
}

/** The text between the name of a class and the colon, without parentheses; undefined without such a line. */
function basesOf (source: string, className: string): string | undefined {
  for (const [, name, bases] of source.matchAll(/^class[ \t]+([^\s([:]+)[ \t]*(\([ \t]*\))?[ \t]*:/gm)) {
    if (name === className) return (bases ?? '').replace(/[()]/g, '')
  }
  return undefined
}

async function sourceOf (file: string): Promise<string | undefined> {
  if (!file.endsWith('.py')) return undefined
  return (await readFileBytes(file, mostBytes).catch(() => undefined))?.toString()
}
