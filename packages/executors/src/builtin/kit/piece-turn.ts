import { LoopTurns } from '@toolyard/runtime'
import { ownerOfBuiltin, type BuiltinContext } from './handler.ts'

/** Of a turn of the event loop: 256 KiB that are hashed or counted, or 256 names, take up to a millisecond. */
const part = 1 / 4
const turns = new LoopTurns()

/**
 * Resolves when a call may go through one more piece of a file or a directory. So the worker's other calls go on, however many calls
 * do that at once; owners take turns.
 *
 * @throws the reason of the signal.
 */
export async function pieceTurn (context: BuiltinContext): Promise<void> {
  await turns.run(ownerOfBuiltin(context), part, () => {})
  context.signal.throwIfAborted()
}
