import { Lexer, Parser, type CST } from 'yaml'
import { manifestLimits } from '../tool/limits.ts'

/** The parser also has a document and a scalar open, so a few levels more than a value may have. */
const mostOpen = manifestLimits.depth + 10

/** A text is nested too deeply, here. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep'
  readonly offset: number

  constructor (offset: number) {
    super(`is nested deeper than ${manifestLimits.depth} levels`)
    this.offset = offset
  }
}

/**
 * The tokens of a YAML text, which need not be valid. What is made of them is made by recursion, and a regular expression that V8
 * compiles near the end of the stack aborts the process, also in a thread: no `catch` prevents it. So the depth is bounded here.
 *
 * @throws TooDeep
 */
export function yamlTokens (text: string, onNewLine: (offset: number) => void = () => {}): CST.Token[] {
  onNewLine(0)
  const parser = new Parser(onNewLine)
  const tokens: CST.Token[] = []
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > mostOpen) throw new TooDeep(parser.offset)
  }
  for (const token of parser.end()) tokens.push(token)
  return tokens
}
