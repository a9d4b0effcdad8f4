import ts from 'typescript'
import type { SourceFile } from './source-tree.ts'

/** A rule that a test's title cites, as `A31`, `RC8`, `X3b` or `fault 7`, and where. */
export interface Citation {
  id: string
  /** `file:line`. */
  at: string
}

/** Rules that a test must cite: the letters in front, and the first and last number. */
export interface RuleRange {
  part: string
  first: number
  last: number
}

const ruleId = /\b(?:(?:AC|A|PC|P|SC|SN|S|RC|R|X|B)[1-9]\d?b?|fault [1-9]\d?)\b/g
const testFunctions = new Set(['test', 'describe', 'it'])

/**
 * Collects the rules that the titles of tests cite, anywhere in a title and as many as it has. A title that is computed
 * can't be read: then the texts of that file that begin with a rule count as its titles.
 */
export function readCitations (files: SourceFile[]): Citation[] {
  return files.flatMap(({ path, text }) => {
    const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
    const titles = titleNodes(file)
    const nodes = titles.every(isFixed) ? titles : [...titles, ...textsWithRule(file)]
    return nodes.flatMap(node => {
      const at = `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
      return [...fixedText(node).matchAll(ruleId)].map(([id]) => ({ id, at }))
    })
  })
}

/** Finds citations of rules that nobody knows, as `file:line cites ID`. */
export function findUnknown (citations: Citation[], known: Record<string, string>): string[] {
  return citations.filter(({ id }) => !Object.hasOwn(known, id)).map(({ id, at }) => `${at} cites ${id}, which is no known rule`)
}

/** Finds the rules in the ranges that no test cites, as `ID sentence`. */
export function findUncited (citations: Citation[], known: Record<string, string>, ranges: readonly RuleRange[]): string[] {
  const cited = new Set(citations.map(({ id }) => id))
  return ranges
    .flatMap(({ part, first, last }) => Array.from({ length: last - first + 1 }, (_, index) => `${part}${first + index}`))
    .filter(id => !cited.has(id))
    .map(id => `${id} ${known[id] ?? '(not among the known rules)'}`)
}

function titleNodes (file: ts.SourceFile): ts.Expression[] {
  return collect(file, node => {
    if (!ts.isCallExpression(node)) return undefined
    const callee = ts.isPropertyAccessExpression(node.expression) ? node.expression.name : node.expression
    // With a title alone it is no test, but may be the test of a regular expression.
    return ts.isIdentifier(callee) && testFunctions.has(callee.text) && node.arguments.length > 1 ? node.arguments[0] : undefined
  })
}

function textsWithRule (file: ts.SourceFile): ts.Expression[] {
  return collect(file, node => ts.isStringLiteralLike(node) && node.text.search(ruleId) === 0 ? node : undefined)
}

function collect (file: ts.SourceFile, pick: (node: ts.Node) => ts.Expression | undefined): ts.Expression[] {
  const found: ts.Expression[] = []
  const visit = (node: ts.Node): void => {
    const picked = pick(node)
    if (picked !== undefined) found.push(picked)
    ts.forEachChild(node, visit)
  }
  visit(file)
  return found
}

/** Whether the beginning of a title, where its rule stands, is written out. */
function isFixed (node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || (ts.isTemplateExpression(node) && node.head.text !== '')
}

/** The text of a literal, or the parts of a template that are written out. */
function fixedText (node: ts.Expression): string {
  if (ts.isStringLiteralLike(node)) return node.text
  return ts.isTemplateExpression(node) ? [node.head.text, ...node.templateSpans.map(span => span.literal.text)].join(' … ') : ''
}
