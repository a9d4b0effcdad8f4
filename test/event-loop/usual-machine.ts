import type { Turn } from './turn.ts'

/** No call may exceed it (promise 10), in milliseconds of a usual machine. */
export const boundMs = 50

/** A usual machine parses the text in so many milliseconds. */
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

/** A usual machine gives a process a page of memory in so many milliseconds. */
const usualPageMs = 0.0005
const pageBytes = 4_096
const probedPages = 1_024

/**
 * The time of a usual machine for what took so long here and now, in milliseconds. Processors that are shared with
 * other machines are slower by a factor of two at times: it is told by the median of what the parsing of one text takes just
 * then. Where the host lends memory page by page, one takes forty times as long: that is measured as well.
 */
export function onUsualMachine (turn: Turn): number {
  // A turn that is short enough here is so there.
  if (turn.ms <= boundMs) return turn.ms
  const ms = turn.ms - turn.pages * Math.max(0, pageMs() - usualPageMs)
  const times = Array.from({ length: parses }, () => {
    const begun = performance.now()
    JSON.parse(text)
    return performance.now() - begun
  }).sort((one, other) => one - other)
  return ms / Math.min(mostSlowness, Math.max(1, (times[Math.floor(parses / 2)] ?? 0) / usualParseMs))
}

/** The first use of a page just now, in milliseconds. */
function pageMs (): number {
  // So much comes from the system each time, and not from what was given back.
  const memory = Buffer.allocUnsafeSlow(67_108_864)
  const begun = performance.now()
  for (let page = 0; page < probedPages; page++) memory[page * pageBytes] = 1
  return (performance.now() - begun) / probedPages
}
