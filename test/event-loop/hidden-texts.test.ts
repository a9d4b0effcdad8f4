import { placesOf } from '@toolyard/contract/terms'
import { secretForms, withoutParts, withoutTexts } from '@toolyard/executors'
import t from 'tap'
import { openExecutors, testTool } from '../support/tool.ts'
import { leavesLoopFree } from './longest-turn.ts'

/** Found late: the engine's own search compares all of it at each place. */
const late = `${'a'.repeat(16_000)}b${'a'.repeat(16_000)}`
const equal = 'a'.repeat(65_536)

t.test('promise 10: no secret of a tenant holds up the worker that hides it', async t => {
  const lines = {
    'a thousand lines': Array.from({ length: 1_000 }, (_, index) => `/"é${index} of many`),
    'a thousand lines that begin alike': Array.from({ length: 1_000 }, (_, index) => `aaaaaa${'a'.repeat(index % 60)}${index}`),
    'lines that are told apart late': Array.from({ length: 20 }, (_, index) => `${'a'.repeat(230)}${index}`),
    'a line that nearly stands at each place': [late],
    'letters of three bytes': ['漢'.repeat(65_536)],
    'texts that are written in many ways': [JSON.stringify(Array.from({ length: 990 }, (_, index) => `aé/+'${index}`.padEnd(55, 'é\'+/')))]
  }
  for (const [what, secret] of Object.entries(lines)) {
    const forms = await secretForms([secret.join('\n')], [])
    await leavesLoopFree(t, `${what} in a text of equal letters`, () => { withoutTexts(equal, forms) })
    await leavesLoopFree(t, `${what} in the lines of a log`, () => { for (let line = 0; line < 9_000; line++) withoutTexts(`aaaaaa${line}`, forms) })
    await leavesLoopFree(t, `${what} in an error`, () => { withoutParts('aaaaaa\n'.repeat(1_200), forms) })
    await leavesLoopFree(t, `the forms of ${what}`, async () => { withoutTexts('a text', await secretForms([secret.join('\n')], [])) })
  }
})

t.test('promise 10: a part that nearly stands at each place of a text is found in linear time', async t => {
  await leavesLoopFree(t, 'a part that is not there', () => { t.same([...placesOf(equal, late)], []) })
})

t.test('promise 10: no secrets that headers carry hold up the worker that hides them in answers', async t => {
  const names = Array.from({ length: 32 }, (_, at) => `token${at}`)
  const secrets = Object.fromEntries(names.map(name => [name.toUpperCase(), { secret: name, as: 'header' as const, hosts: ['api.example.com'] }]))
  const tool = testTool({ kind: 'builtin' }, { secrets })
  const open = async (): Promise<Map<string, string>> => new Map(names.map(name => [name, name + '/é<\'&'.repeat(1_636)]))
  const executors = openExecutors(t, { secrets: { open } })
  await leavesLoopFree(t, 'the forms of 32 secrets', async () => {
    await executors.run(tool, {}, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
  })
})
