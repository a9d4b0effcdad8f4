import { prettyLines } from '@toolyard/runtime/pretty-log'

/**
 * A line that a part of Toolyard printed, for the terminal, by the part's name: of its JSON log warnings and errors, and
 * undefined for the rest; anything else, such as a stack trace, as it is. Without colours: all that is shown goes through
 * `printable`.
 */
export const terminalLine = prettyLines({ colorize: false, brief: true })
