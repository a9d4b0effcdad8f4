import { isDeepStrictEqual } from 'node:util'
import type { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import t from 'tap'
import { entry, errors, load } from './fixture.ts'

const fields = (count: number, field: object): Record<string, object> => Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, field]))
const large = { type: 'object', properties: { ...fields(80, { type: 'integer', default: 1 }), text: { type: 'string', pattern: '^x+$' } }, required: ['text'], additionalProperties: false }

t.test('a large schema that is checked in a thread gives the same results as in the main thread', async t => {
  const tool = (await load(t, entry({ schema: large }))).get('probe')
  const args = fc.dictionary(fc.constantFrom('p0', 'p79', 'text', 'other'), fc.oneof(fc.integer(), fc.stringMatching(/^[xy]{0,3}$/)))
  await t.resolves(fc.assert(fc.asyncProperty(args, async args => {
    t.strictSame(await tool?.check(args), tool?.validate(args))
  }), { numRuns: 50 }))
})

t.test('faults of a large schema are reported like those of a small one', async t => {
  const [pattern, reference] = [{ type: 'string', pattern: '(' }, { $ref: '#/nowhere' }]
  for (const fault of [pattern, reference]) {
    const [small, big] = await Promise.all([{}, fields(200, { type: 'string' })].map(async more => errors(await load(t, entry({ schema: { type: 'object', properties: { ...more, fault } } })))))
    t.equal(small?.length, 1)
    t.strictSame(big?.map(({ message }) => message), small?.map(({ message }) => message))
  }
})

t.test('where a task ends the thread of large schemas, those behind it are answered all the same', async t => {
  const threads: Worker[] = []
  const note = (thread: Worker): void => { threads.push(thread) }
  process.on('worker', note)
  t.teardown(() => process.off('worker', note))
  const tool = (await load(t, entry({ schema: large }))).get('probe')
  const checks = Array.from({ length: 20 }, async (_, at) => await tool?.check(at % 2 === 0 ? { text: 'x' } : { text: 'y' }))
  // As a task does that takes too long.
  await threads.at(-1)?.terminate()
  const results = await Promise.all(checks)
  const expected = [{ text: 'x' }, { text: 'y' }].map(args => tool?.validate(args))
  const wrong = results.flatMap((result, at) => isDeepStrictEqual(result, expected[at % 2]) ? [] : [at])
  t.ok(wrong.length <= 1, `not answered: ${wrong.join()}`)
  t.strictSame(await tool?.check({ text: 'x' }), expected[0], 'and so are those that come later')
})
