import { Composer, isCollection, isNode, isPair, isScalar, LineCounter, visit, type Document } from 'yaml'
import type { DocumentPath } from '../finding/finding.ts'
import { manifestLimits } from '../tool/limits.ts'
import type { DuplicateKey } from './duplicate-keys.ts'
import { withoutSmallBigInts } from './large-integers.ts'
import { TooDeep, yamlTokens } from './yaml-tokens.ts'

export interface Position {
  line: number
  column: number
}

interface YamlFault extends Partial<Position> {
  message: string
}

export type YamlReading =
  | { ok: true, value: unknown, duplicates: DuplicateKey[], /** It holds BigInts (`withDigits`). */ large?: boolean }
  | { ok: false, fault: YamlFault }

/** How manifests are read: YAML 1.2, with the merge key `<<` that most readers know. Duplicate keys are looked at apart. */
const options = {
  version: '1.2', schema: 'core', merge: true, uniqueKeys: false, intAsBigInt: true, prettyErrors: false, logLevel: 'error'
} as const

const tooDeep = `nested deeper than ${manifestLimits.depth} levels`

/** Reads a YAML text. It takes time and memory without bound, so manifests are read in a thread (`readYaml`). */
export function readYamlText (text: string, expansion?: number): YamlReading {
  const lines = new LineCounter()
  try {
    const { document, second } = documentOf(text, lines)
    // A tag that nobody knows is only a warning to the parser.
    const [error] = [...document.errors, ...document.warnings]
    if (error !== undefined) return { ok: false, fault: { message: error.message, ...positionAt(lines, error.pos[0]) } }
    if (second !== undefined) return { ok: false, fault: { message: 'several documents in one file', ...positionAt(lines, second) } }
    const { value, large } = withoutSmallBigInts(document.toJS({ maxAliasCount: manifestLimits.yamlAliases }))
    const fault = plainDataFault(value, expansion)
    if (fault !== undefined) return { ok: false, fault: { message: fault, ...positionOf(document, fault, lines) } }
    return { ok: true, value, duplicates: duplicates(document, lines), ...large && { large } }
  } catch (error) {
    if (error instanceof TooDeep) return { ok: false, fault: { message: tooDeep, ...positionAt(lines, error.offset) } }
    // A ReferenceError is an alias that is missing, or one too many.
    return { ok: false, fault: { message: error instanceof Error ? error.message.split('\n', 1)[0] ?? '' : String(error) } }
  }
}

/**
 * Where values stand in a text that is YAML or JSON: for each path the position of its key or item, or of the nearest
 * thing around it that is there.
 */
export function locateInText (text: string, paths: readonly DocumentPath[]): Array<Position | undefined> {
  const lines = new LineCounter()
  const { document } = documentOf(text, lines)
  return paths.map(path => {
    const offset = offsetOf(document, path)
    return offset === undefined ? undefined : positionAt(lines, offset)
  })
}

/** The first document of a text, and where a second one begins. */
function documentOf (text: string, lines: LineCounter): { document: Document.Parsed, second: number | undefined } {
  const documents = new Composer({ ...options, lineCounter: lines }).compose(yamlTokens(text, lines.addNewLine), true, text.length)
  const [document, second] = [documents.next().value, documents.next().value]
  if (document === undefined) throw new Error('A YAML text has no document')
  return { document, second: second?.range[0] }
}

function offsetOf (document: Document, path: DocumentPath): number | undefined {
  let node: unknown = document.contents
  let offset = isNode(node) ? node.range?.[0] : undefined
  for (const step of path) {
    if (!isCollection(node)) break
    const item: unknown = typeof step === 'number' ? node.items[step] : node.items.find(each => isPair(each) && keyText(each.key) === step)
    if (item === undefined) break
    const start = isPair(item) ? item.key : item
    if (isNode(start) && start.range) offset = start.range[0]
    node = isPair(item) ? item.value : item
  }
  return offset
}

/** Where the first scalar stands that has a fault; nowhere, where the fault is one of the whole. */
function positionOf (document: Document.Parsed, fault: string, lines: LineCounter): Partial<Position> {
  let position: Partial<Position> = {}
  visit(document, {
    Scalar: (key, { value, range }) => {
      if (key === 'key' || range == null || scalarFault(value) !== fault) return undefined
      position = positionAt(lines, range[0])
      return visit.BREAK
    }
  })
  return position
}

/** Keys that stand twice, level by level; a merge key may. */
function duplicates (document: Document, lines: LineCounter): DuplicateKey[] {
  const found: DuplicateKey[] = []
  const open: Array<{ node: unknown, path: DocumentPath }> = [{ node: document.contents, path: [] }]
  for (const { node, path } of open) {
    if (!isCollection(node)) continue
    const keys = new Set<string>()
    for (const [at, item] of node.items.entries()) {
      if (!isPair(item)) {
        open.push({ node: item, path: [...path, at] })
        continue
      }
      const key = keyText(item.key)
      if (keys.has(key) && key !== '<<') found.push({ path: [...path, key], ...positionAt(lines, isNode(item.key) ? item.key.range?.[0] ?? 0 : 0) })
      keys.add(key)
      open.push({ node: item.value, path: [...path, key] })
    }
  }
  return found
}

function keyText (key: unknown): string {
  return String(isScalar(key) ? key.value : key)
}

function positionAt (lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

/**
 * Why a value read from YAML can't be used as JSON; undefined when it can. Aliases make it a graph: what it holds is
 * counted as if each were written out, and the count, as well as the depth, is bounded, so that cycles end too.
 */
export function plainDataFault (value: unknown, expansion: number = manifestLimits.yamlExpansion): string | undefined {
  const open: Array<{ value: unknown, depth: number }> = [{ value, depth: 0 }]
  let left = expansion
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next
    if (depth > manifestLimits.depth) return `nested deeper than ${manifestLimits.depth} levels`
    if (typeof value === 'string') left -= value.length
    const fault = scalarFault(value)
    if (fault !== undefined) return fault
    const items = Object.entries(typeof value === 'object' && value !== null ? value : {})
    left -= items.reduce((size, [key]) => size + key.length + 1, 0)
    if (left >= 0) for (const [, item] of items) open.push({ value: item, depth: depth + 1 })
    if (left < 0) return `holds more than ${expansion} characters and values once its aliases are followed`
  }
  return undefined
}

function scalarFault (value: unknown): string | undefined {
  switch (typeof value) {
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} is no number of JSON`
    case 'object':
      return value === null || Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype ? undefined : 'holds a value that JSON has not'
    case 'bigint':
      return Number.isFinite(Number(value)) ? undefined : 'holds a number that is too large'
    case 'string':
    case 'boolean':
      return undefined
    default:
      return 'holds a value that JSON has not'
  }
}
