/** A call that the model makes. */
interface ScriptedCall { id: string, name: string, args: Record<string, unknown> }
/** The model's next message. */
export type Turn = { calls: ScriptedCall[] } | { text: string }

/** A model's mind: what it says next, by the answers that it has had, in order. It remembers its own calls, and may think for a while. */
export type Script = (answers: readonly string[]) => Turn | Promise<Turn>

/**
 * A call that goes on until a file is there, beside one that ends at once; then a call on that one's output, beside one
 * that fails and one whose number no double holds; and then what came of it.
 */
export const sums = (file: string): Script => answers => {
  const [waited = '', first = '', both = '', failed = '', counted = ''] = answers
  if (answers.length === 0) return { calls: [{ id: 'call_a', name: 'wait_for', args: { file } }, { id: 'call_b', name: 'add', args: { a: 2, b: 3 } }] }
  if (answers.length === 2) return { calls: [{ id: 'call_c', name: 'add', args: { a: sumIn(first), b: 30 } }, { id: 'call_d', name: 'fail', args: {} }, { id: 'call_e', name: 'count', args: {} }] }
  return { text: `${waited.includes('"saw"') ? 'The file is there' : waited}, the sum is ${counted.includes('725653563933458432') ? sumIn(both) : counted}, and ${failed.includes('the well is dry') ? 'the well is dry' : failed}.` }
}

function sumIn (answer: string): number {
  return Number(/"sum":\s*(-?\d+)/.exec(answer)?.[1])
}
