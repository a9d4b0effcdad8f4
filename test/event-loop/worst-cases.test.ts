import fc from 'fast-check'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createSchemas, type JsonSchema } from '@toolyard/manifests'
import { createFixture } from '../executors/fixture.ts'
import { longestTurn } from './longest-turn.ts'
import { boundMs, onUsualMachine } from './usual-machine.ts'
import { largeValues, schemas } from './worst-schemas.ts'

/*
 * Worst cases that nobody has thought of: what is random here are the keywords of a schema, the shape of what is checked by
 * it, an output, and what a tool writes. A failure says with which seed it comes again.
 */

t.setTimeout(600_000)
/** Runs of one case: a machine that is busy with something else excuses a long turn, but not each time. */
const runs = 4
const args = largeValues(900_000, 29_000)

/** Fails with the first case that holds up the event loop in each of its runs. */
async function holdsUpNothing<Case> (
  t: Test, cases: fc.Arbitrary<Case>, numRuns: number,
  work: (given: Case) => Promise<unknown>, isValid: (given: Case) => Promise<boolean> = async () => await Promise.resolve(true)
): Promise<void> {
  const details = await fc.check(fc.asyncProperty(cases, async given => {
    if (!await isValid(given)) return
    const turns: number[] = []
    while (turns.length < runs && (turns.at(-1) ?? Infinity) > boundMs) turns.push(onUsualMachine(await longestTurn(() => work(given))))
    if ((turns.at(-1) ?? Infinity) > boundMs) throw new Error(`${Math.round(Math.min(...turns))} ms in one turn of the event loop`)
  }), { numRuns, endOnFailure: true })
  const { counterexample, seed, counterexamplePath: path, errorInstance } = details
  t.notOk(details.failed, 'no case holds up the event loop', { seed, path, error: String(errorInstance), given: shown(counterexample) })
}

function shown (value: unknown): string {
  const cut = (_: string, item: unknown): unknown => (
    Array.isArray(item) && item.length > 10 ? [...item.slice(0, 3) as unknown[], `${item.length} items`] : item
  )
  return JSON.stringify(value, cut)?.slice(0, 3_000)
}

const known = createSchemas()
/** A schema that is compiled once is no part of a call. */
async function isCompiled (schema: JsonSchema): Promise<boolean> {
  if ((await known.check(schema)).length > 0) return false
  await known.validators(schema).check({})
  return true
}

t.test('promise 10: no arguments hold up the event loop, whatever the schema that they are checked against', async t => {
  const ofSchemas = ([root, one, two]: readonly object[]): JsonSchema => (
    { properties: { list: root, a: one }, additionalProperties: two, $defs: { one, two } }
  )
  await holdsUpNothing(t, fc.tuple(schemas, schemas, schemas, args), 20, async ([root, one, two, value]) => {
    await known.validators(ofSchemas([root, one, two])).check({ list: value, a: value })
  }, async ([root, one, two]) => await isCompiled(ofSchemas([root, one, two])))
})

t.test('promise 10: no arguments that may name files hold up the event loop', async t => {
  const fixture = createFixture(t)
  const file = { type: 'string', format: 'session-file' }
  const ofSchema = (schema: object): JsonSchema => ({
    type: 'object',
    properties: { list: { anyOf: [schema, { items: file }, { $ref: '#/$defs/tree' }] } },
    $defs: { tree: { anyOf: [file, schema, { additionalProperties: { $ref: '#/$defs/tree' } }] }, one: schema, two: file }
  })
  await holdsUpNothing(t, fc.tuple(schemas, args), 12, async ([schema, value]) => {
    await fixture.run({ program: '/bin/true', parameters: ofSchema(schema), arguments: { list: value } })
  }, async ([schema]) => await isCompiled(ofSchema(schema)))
})

t.test('promise 10: no output holds up the event loop, wherever in it files are returned', async t => {
  const fixture = createFixture(t)
  const dir = join(fixture.workspace, 'session')
  mkdirSync(dir)
  writeFileSync(join(dir, 'f'), 'x')
  const session = { id: 's', dir }
  await holdsUpNothing(t, largeValues(500_000, 14_000), 12, async value => {
    writeFileSync(join(dir, 'out'), JSON.stringify({ before: value, file: { $file: 'f' }, after: value }))
    await fixture.runShell('cat out', { session })
  })
})

t.test('promise 10: nothing that several tools write at once holds up the event loop', async t => {
  const fixture = createFixture(t)
  const line = fc.constantFrom('::progress 1', '::progress 1/2 text', '::progress x', '', ' ', 'x', 'x'.repeat(200), 'x'.repeat(5_000), '\\r', '\\0', '::progress')
  await holdsUpNothing(t, fc.array(line, { minLength: 1, maxLength: 5 }), 8, async lines => {
    await Promise.all([1, 2, 3, 4, 5, 6].map(async () => {
      const end = await fixture.runShell(`yes "$(printf '${lines.join('\\n')}')" | head -c 6000000 >&2; echo out`, { log: () => {}, progress: () => {} })
      t.ok(end.ok, 'no call is lost')
    }))
  })
})
