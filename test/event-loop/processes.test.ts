import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { createFixture } from '../executors/fixture.ts'
import { boxedTools, withoutBox } from '../sandbox/boxed-tools.ts'
import { longestTurn } from './longest-turn.ts'
import { boundMs, onUsualMachine } from './usual-machine.ts'

const skip = await withoutBox()
const count = 3_000
const runs = 3

/** How many processes there are, without those that wait for a parent that reaps them. */
function running (): number {
  return readdirSync('/proc').filter(name => {
    try {
      return Number(name) > 0 && !readFileSync(`/proc/${name}/stat`, 'latin1').includes(') Z ')
    } catch {
      return false
    }
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
    const script = `trap "" TERM; i=0; while [ $i -lt ${count} ]; do sleep 300 & i=$((i+1)); done; echo ready >&2; wait`
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

/** How a call in the open may leave thousands of processes, and how it ends. */
const openCalls: Record<string, { script: string, ends: boolean }> = {
  'is cancelled': { script: 'sleep 300 &', ends: false },
  'is cancelled, with processes that have left it': { script: '(sleep 300 < /dev/null > /dev/null 2>&1 &);', ends: false },
  'has ended, with processes that hold nothing of it': { script: '(sleep 300 < /dev/null > /dev/null 2>&1 &);', ends: true }
}

for (const [what, { script, ends }] of Object.entries(openCalls)) {
  void t.test(`promise 10: a call in the open with thousands of processes holds up no event loop when it ${what}`, { skip: process.platform !== 'linux' }, async t => {
    const fixture = createFixture(t)
    const before = running()
    const turns: number[] = []
    while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) {
      let begun: () => void = () => {}
      const ready = new Promise<void>(resolve => { begun = resolve })
      const cancel = new AbortController()
      const call = fixture.runShell(`trap "" TERM; i=0; while [ $i -lt ${count} ]; do ${script} i=$((i+1)); done; echo ready >&2; ${ends ? 'sleep 1' : 'exec sleep 300'}`, { signal: cancel.signal, log: begun })
      await Promise.race([ready, call])
      turns.push(onUsualMachine(await longestTurn(async () => {
        if (!ends) cancel.abort()
        t.match(await call, ends ? { ok: true } : { ok: false, error: { code: 'JOB_CANCELLED' } })
      })))
      t.ok(running() < before + count / 10, 'and leaves nothing')
    }
    t.ok((turns.at(-1) ?? Infinity) <= boundMs, `${Math.round(Math.min(...turns))} ms in one turn of the event loop`, { turns })
  })
}
