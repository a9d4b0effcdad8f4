import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox, type BoxedTools } from '../sandbox/boxed-tools.ts'

const program = join(import.meta.dirname, '../../../samples/hostile/tools/bin/swap.py')
const skip = await withoutBox()
const seconds = 3

t.setTimeout(180_000)

/** The attacker's guesses: one is in the file outside, the other isn't; the file inside has both. */
const guesses = ['key-right', 'key-wrong'] as const

interface Ground {
  tools: BoxedTools
  /** A directory beside the workspace, to which `link` in the workspace leads. */
  outside: string
}

async function ground (t: Parameters<typeof boxedTools>[0]): Promise<Ground> {
  const tools = await boxedTools(t)
  const outside = join(tools.base, 'outside')
  for (const directory of [join(tools.workspace, 'dir'), outside]) {
    mkdirSync(directory)
    writeFileSync(join(directory, 'inner'), 'the same on both sides')
  }
  writeFileSync(join(tools.workspace, 'dir/secret'), guesses.join('\n'))
  writeFileSync(join(outside, 'secret'), guesses[0])
  mkdirSync(join(outside, 'kind'))
  writeFileSync(join(tools.workspace, 'dir/kind'), '')
  symlinkSync('../outside', join(tools.workspace, 'link'))
  mkdirSync(join(tools.workspace, 'links'))
  symlinkSync('../dir/kind', join(tools.workspace, 'links/kind'))
  return { tools, outside }
}

/** Makes calls, one after the other, while a tool in its box swaps `dir` and `link`; the answers without doubles. */
async function answersMeanwhile ({ tools }: Ground, jobType: string, args: Record<string, unknown>): Promise<Set<string>> {
  const swapping = tools.run({ program, permissions: ['write_files'], arguments: { one: 'dir', other: 'link', seconds } })
  const state = { done: false }
  void swapping.finally(() => { state.done = true })
  const answers = new Set<string>()
  while (!state.done) answers.add(JSON.stringify(await runBuiltin(tools, jobType, args)))
  const { swaps } = outputOf(await swapping) as { swaps: number }
  if (swaps < 1_000) throw new Error(`only ${swaps} swaps`)
  return answers
}

async function runBuiltin ({ executors }: BoxedTools, jobType: string, args: Record<string, unknown>): Promise<Outcome> {
  const tool = { name: 'builtin', description: '', parameters: {}, jobType, enabled: true, idempotent: true, source: { format: 'builtin', file: 'builtin', index: 0 }, run: { kind: 'builtin' } } as const
  return await executors.run(tool, args, { jobId: 'job-1', timeoutMs: 60_000, signal: new AbortController().signal, log: () => {} })
}

/** A call that finds the link, at whichever of its steps, is told this; it doesn't depend on what is outside. */
const atTheLink = /^\{"ok":false,"error":\{"code":"TOOL_FAILED","message":"(?:path escapes workspace root|path is not a (?:directory|file)|(?:path|file) not found(?: \(set create_if_missing=true to create\))?)"\}\}$/

void t.test('fault 15 B29 a search shows nothing of a directory outside that is swapped in while it runs', { skip }, async t => {
  const place = await ground(t)
  for (const [what, args] of [
    ['in a text', { query: 'key-wrong', case_sensitive: true }],
    ['in any case', { query: 'KEY-WRONG' }],
    ['by an expression', { query: '^key-w[a-z]+$', regex: true, include_ignored: true, include_hidden: true }]
  ] as const) {
    const answers = [...await answersMeanwhile(place, 'tools.find_in_files', { ...args, path: 'dir' })].filter(answer => !atTheLink.test(answer))
    t.equal(answers.length, 1, `${what}: a search that begins inside always says the same`)
    t.match(answers[0], /"match_count":1,/, what)
  }
})

void t.test('fault 15 B29 the kind of what a link leads to is never that of an entry outside', { skip }, async t => {
  const place = await ground(t)
  const answers = [...await answersMeanwhile(place, 'tools.file_search', { query: 'kind', path: 'links' })]
  for (const answer of answers) t.match(answer, /"results":\[(?:\{"path":"links\/kind","type":"file"\})?\]/)
})

void t.test('fault 15 B29 the other built-in tools read and change only files inside, whatever is swapped', { skip }, async t => {
  const place = await ground(t)
  const before = readdirSync(place.outside)
  for (const [jobType, args] of [
    ['data.file_read', { path: 'dir/secret' }],
    ['workspace.list', { path: 'dir' }],
    ['workspace.stat', { path: 'dir/secret' }],
    ['data.write_file', { path: 'dir/new', content: 'x', create_if_missing: true }]
  ] as const) {
    const answers = [...await answersMeanwhile(place, jobType, args)].filter(answer => !atTheLink.test(answer) && !answer.includes('"changed":true'))
    t.ok(answers.length <= 1, `${jobType}: ${answers.join(' or ')}`)
  }
  t.strictSame(readdirSync(place.outside), before)
  t.equal(readFileSync(join(place.outside, 'secret'), 'utf8'), guesses[0])
})

void t.test('B29 a link shows nothing of the directories outside that its target passes through', async t => {
  const { tools, outside } = await ground(t)
  const file = join(tools.workspace, 'dir/inner')
  for (const [name, way] of [['there', outside], ['missing', join(tools.base, 'missing')], ['a-file', join(outside, 'secret')]] as const) {
    symlinkSync(`${way}/../../proc/self/root${file}`.replace('/../..', '/..'.repeat(way.split('/').length - 1)), join(tools.workspace, name))
  }
  const answers = ['there', 'missing', 'a-file'].map(async path => JSON.stringify(await runBuiltin(tools, 'data.file_read', { path })))
  t.equal(new Set(await Promise.all(answers)).size, 1)
  t.match(await Promise.all(answers), [atTheLink])
})
