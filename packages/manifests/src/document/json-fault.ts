import { printParseErrorCode, visit, type ParseErrorCode } from 'jsonc-parser'

/** A text for each fault, by the parser's name for it. */
const said: Readonly<Record<string, string>> = {
  PropertyNameExpected: "a name in double quotes or '}' is expected",
  ValueExpected: 'a value is expected',
  ColonExpected: "':' is expected",
  CommaExpected: "',' is expected",
  CloseBraceExpected: "',' or '}' is expected",
  CloseBracketExpected: "',' or ']' is expected",
  EndOfFileExpected: 'the end is expected',
  UnexpectedEndOfString: 'a text that has no end, or a line break that must be escaped, begins',
  InvalidUnicode: 'a backslash begins no escape that JSON knows',
  InvalidEscapeCharacter: 'a backslash begins no escape that JSON knows',
  InvalidCharacter: 'a control character must be escaped in a text'
}

interface JsonFault {
  message: string
  /** From 1. */
  place: { line: number, column: number }
}

/**
 * Where a text stops being JSON; undefined where the parser doesn't come to the end. V8 tells the place for some faults
 * alone, so another parser does.
 */
export function jsonFault (text: string): JsonFault | undefined {
  let first: JsonFault | undefined
  const onError = (code: ParseErrorCode, _at: number, _length: number, line: number, column: number): void => {
    first ??= { message: said[printParseErrorCode(code)] ?? 'what is no value and no name of JSON stands', place: { line: line + 1, column: column + 1 } }
  }
  try {
    visit(text, { onError }, { disallowComments: true })
  } catch {
    // It calls itself for every level.
  }
  return first
}
