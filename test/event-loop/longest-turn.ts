import type { Test } from 'tap'
import { longer, nextTurn, noTurn, turnMeter, type Turn } from './turn.ts'
import { boundMs, onUsualMachine } from './usual-machine.ts'

/** Runs of one piece of work: the first ones are slower, and the machine may be busy with something else. */
const runs = 5

/**
 * Fails when some work holds up the event loop for more than 50 ms in each of five runs. Code that takes time by the
 * square of its input does so by far on every machine; a run that another process disturbed doesn't. `prepare` makes what
 * each run needs.
 */
export async function leavesLoopFree (t: Test, what: string, work: () => unknown, prepare: () => void = () => {}): Promise<void> {
  const turns: number[] = []
  while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) {
    prepare()
    turns.push(onUsualMachine(await longestTurn(work)))
  }
  t.ok((turns.at(-1) ?? Infinity) <= boundMs, `${what}: ${Math.round(Math.min(...turns))} ms in one turn of the event loop`, { turns })
}

/** The longest turn of the event loop while some work is done. */
export async function longestTurn (work: () => unknown): Promise<Turn> {
  const meter = turnMeter()
  let longest = noTurn
  let isOver = false
  const turned = new Promise<void>(resolve => {
    const turn = (): void => {
      longest = longer(longest, meter())
      if (isOver) resolve()
      else nextTurn(turn)
    }
    nextTurn(turn)
  })
  try {
    await work()
  } finally {
    isOver = true
  }
  await turned
  return longest
}
