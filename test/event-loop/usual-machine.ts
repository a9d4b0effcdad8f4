import type { Turn } from './turn.ts'

/** What no call may exceed (promise 10), in milliseconds of a usual machine. */
export const boundMs = 50

/** What a usual machine takes to parse the text, in milliseconds. */
const usualParseMs = 0.65
const parses = 15
/** How much slower a machine may be: a parse that was slow for another reason excuses no more. */
const mostSlowness = 2
const text = JSON.stringify(Array.from({ length: 200 }, (_, index) => ({
  name: `tool_${index}`,
  description: `Does what tool ${index} of many does.`,
  command: ['/bin/cat'],
  schema: {
    type: 'object',
    properties: Object.fromEntries(['path', 'pattern', 'limit', 'mode', 'reverse'].map(name => [name, { type: 'string', description: `The ${name} of tool ${index}.`, maxLength: 100 + index }])),
    required: ['path'],
    additionalProperties: false
  }
})))

/** What a usual machine takes to give a process a page of memory, in milliseconds. */
const usualPageMs = 0.0005
const pageBytes = 4_096
const probedPages = 1_024

/**
 * What took so long here and now, as a usual machine would take it, in milliseconds. Processors that are shared with
 * other machines are slower by a factor of two at times: it is told by the median of what the parsing of one text takes just
 * then. Where the host lends memory page by page, one takes forty times as long: that is measured as well.
 */
export function onUsualMachine (turn: Turn): number {
  // What is short enough here is so there.
  if (turn.ms <= boundMs) return turn.ms
  const ms = turn.ms - turn.pages * Math.max(0, pageMs() - usualPageMs)
  const times = Array.from({ length: parses }, () => {
    const begun = performance.now()
    JSON.parse(text)
    return performance.now() - begun
  }).sort((one, other) => one - other)
  return ms / Math.min(mostSlowness, Math.max(1, (times[Math.floor(parses / 2)] ?? 0) / usualParseMs))
}

/** What the first use of a page takes just now, in milliseconds. */
function pageMs (): number {
  // So much comes from the system each time, and not from what was given back.
  const memory = Buffer.allocUnsafeSlow(67_108_864)
  const begun = performance.now()
  for (let page = 0; page < probedPages; page++) memory[page * pageBytes] = 1
  return (performance.now() - begun) / probedPages
}
