import { orElse } from '@toolyard/contract/terms'
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { longestTurn } from '../event-loop/longest-turn.ts'
import { boundMs, onUsualMachine } from '../event-loop/usual-machine.ts'

const skip = await withoutBox()
const count = 3_000
const runs = 3

/** A process that waits for ever: it opens a FIFO into which nobody writes. To start thousands of programs would take a minute. */
const withWaiting = 'cd "$(mktemp -d)" && mkfifo never; waits () { read line < never; }; '

/** How many processes there are, without those that wait for a parent that reaps them. */
function running (): number {
  return readdirSync('/proc').filter(name => {
    return orElse(() => Number(name) > 0 && !readFileSync(`/proc/${name}/stat`, 'latin1').includes(') Z '), false)
  }).length
}

void t.test('promise 10: a call with thousands of processes holds up no event loop when it is cancelled', { skip }, async t => {
  const tools = await boxedTools(t)
  const before = running()
  const turns: number[] = []
  while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) {
    let begun: () => void = () => {}
    const ready = new Promise<void>(resolve => { begun = resolve })
    const cancel = new AbortController()
    const script = `${withWaiting}trap "" TERM; i=0; while [ $i -lt ${count} ]; do waits & i=$((i+1)); done; echo ready >&2; wait`
    const call = tools.shell(script, { signal: cancel.signal, limits: { processes: count + 100 }, log: begun })
    await Promise.race([ready, call])
    turns.push(onUsualMachine(await longestTurn(async () => {
      cancel.abort()
      t.match(await call, { ok: false, error: { code: 'JOB_CANCELLED' } })
    })))
    t.ok(running() < before + count / 2, 'and leaves nothing')
  }
  t.ok((turns.at(-1) ?? Infinity) <= boundMs, `${Math.round(Math.min(...turns))} ms in one turn of the event loop`, { turns })
})
