/** Control characters but line feed and tab, and what turns the direction of writing: a terminal does what they say. */
// eslint-disable-next-line no-control-regex -- these are what it is about
const commands = /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/**
 * A text for a terminal or a log, in which somebody else's text may stand: of manifests, exceptions, programs. What a
 * terminal would take for a command is escaped as in JSON, so that JSON stays the same value.
 */
export function printable (text: string): string {
  return text.replace(commands, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
