import fc from 'fast-check'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { decidePolicy, loadRegistry, openRegistrySource, type PolicyAsker, type PolicyRule, type Registry } from '@toolyard/manifests'
import t from 'tap'
import { waitFor } from '../support/condition.ts'

const asker: PolicyAsker = { key: { name: 'agent', role: 'admin', permissions: ['network'] }, tenant: '', session: '', conversation: '' }
const schema = {
  type: 'object',
  properties: {
    amount: { type: 'number' },
    note: { type: 'string' },
    tags: { type: 'array', items: { type: 'string' } },
    who: { type: 'object', properties: { name: { type: 'string' } } },
    'filter[x]': { type: 'string' },
    any: {}
  }
}

const base = t.testdir()

async function registryOf (policy: unknown, rest: object = {}, options: { policyFile?: string } = {}): Promise<Registry> {
  const dir = await mkdtemp(join(base, 'policy-'))
  await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: [{ name: 'pay', schema, command: ['/bin/true'], policy, ...rest }] }))
  return await loadRegistry({ manifests: [join(dir, 'tools.json')], builtins: false, ...options })
}

const rules = (...all: Array<[string, PolicyRule['then'], string?]>): PolicyRule[] => all.map(([when, then, reason]) => ({ when, then, ...(reason === undefined ? {} : { reason }) }))

t.test('the strictest rule that is true of a call counts, whatever their order', async t => {
  const order: PolicyRule['then'][] = ['allow', 'hold', 'deny']
  const some = fc.array(fc.record({ is: fc.boolean(), then: fc.constantFrom(...order) }), { maxLength: 6 })
  await fc.assert(fc.asyncProperty(some, async made => {
    const registry = await registryOf(made.map(({ is, then }) => ({ when: is ? 'args.amount > 1' : 'args.amount < 1', then })))
    const strictest = made.filter(({ is }) => is).reduce((most, { then }) => Math.max(most, order.indexOf(then)), 0)
    t.equal((await decidePolicy(registry, 'pay', { amount: 5 }, asker)).decision, order[strictest])
  }), { numRuns: 30 })
})

t.test('expressions are about arguments, key, tenant, session, conversation and tool', async t => {
  const true_ = [
    'args.amount + 1 > 500', 'args.amount * 2 == 1200', 'args.amount == 600', 'args.amount != 5', 'args.amount in [600.0, 700.0]', 'args.amount % 7 == 5', 'args.who.name == "Ann"', '"b" in args.tags', 'args.tags.exists(x, x == "a")', 'has(args.note) == false',
    'args["filter[x]"] == "y"', 'key.name == "agent"', 'key.role == "admin"', '"network" in key.permissions', 'tenant == ""', 'tool == "pay"', 'args.any.deep > 2', 'args.who.name.matches("^A(n)+$")',
    'args.tags.all(x, x.matches("^[ab]$")) && args.who.name.matches("n")'
  ]
  for (const when of true_) {
    const registry = await registryOf(rules([when, 'deny', 'yes']))
    t.same(registry.findings.filter(({ severity }) => severity === 'error'), [], when)
    const args = { amount: 600, who: { name: 'Ann' }, tags: ['a', 'b'], 'filter[x]': 'y', any: { deep: 3 } }
    t.match(await decidePolicy(registry, 'pay', args, asker), { decision: 'deny', reason: 'yes' }, when)
  }
})

t.test('a rule that can not be used is an error with its place, and its tool is not served', async t => {
  const bad: Array<[unknown, RegExp]> = [
    [rules(['args.amuont > 5', 'deny']), /policy\[0\]\.when No such key: amuont/], [rules(['args.amount > "x"', 'deny']), /no such overload/], [rules(['args.amount', 'deny']), /gives double/],
    [rules(['args.note.matches(args.who.name)', 'deny']), /no text of the rule itself/],
    [rules(['args.amount >', 'deny']), /Unexpected/], [rules(['nobody == 1', 'deny']), /nobody/], [rules(['args.note.matches("(?=x)")', 'deny']), /RE2/],
    [[{ when: 'true', then: 'ask' }], /then/], [[{ when: 'true', then: 'deny', why: 'x' }], /why is no field that is known here/], ['deny', /policy/], [rules([`args.note == "${'x'.repeat(5_000)}"`, 'deny']), /when/]
  ]
  for (const [policy, message] of bad) {
    const registry = await registryOf(policy)
    t.ok(registry.findings.some(finding => finding.severity === 'error' && message.test(finding.message)), `${JSON.stringify(policy).slice(0, 80)}: ${registry.findings.map(({ message }) => message).join('; ')}`)
    t.equal(registry.get('pay'), undefined)
  }
})

t.test('what a rule can not decide is denied, and says so', async t => {
  const missing = await registryOf(rules(['args.note == "x"', 'hold']))
  t.match(await decidePolicy(missing, 'pay', { amount: 1 }, asker), { decision: 'deny', reason: /can't be decided: No such key: note/ })
  const wide = await registryOf(rules(['args.tags.all(x, args.tags.exists(y, y == x))', 'hold']))
  const startedAt = performance.now()
  t.match(await decidePolicy(wide, 'pay', { tags: Array.from({ length: 5_000 }, (_, at) => String(at)) }, asker), { decision: 'deny', reason: /too many steps/ })
  t.ok(performance.now() - startedAt < 2_000, 'it is not tried')
  const long = await registryOf(rules(['args.note.matches("(a+)+$")', 'hold']))
  t.match(await decidePolicy(long, 'pay', { note: 'a'.repeat(60_000) }, asker), { decision: 'deny', reason: /too many steps/ })
  t.match(await decidePolicy(long, 'pay', { note: `${'a'.repeat(20_000)}b` }, asker), { decision: 'allow' }, 'in linear time')
})

t.test('a text is split into 500 parts at most, and what is done to each of them counts', async t => {
  const inside = await registryOf(rules(['args.note.split(",").exists(x, !x.endsWith("@example.com"))', 'deny']))
  const decide = async (note: string): Promise<{ decision: string, reason?: string }> => await decidePolicy(inside, 'pay', { note }, asker)
  t.match(await decide('a@example.com,b@example.com'), { decision: 'allow' })
  t.match(await decide('a@example.com,b@example.org'), { decision: 'deny', reason: /denies it/ })
  t.match(await decide(','.repeat(600)), { decision: 'deny', reason: /can't be decided: a text has more than 500 parts/ })
  t.match(await decide('@example.com,'.repeat(70_000)), { decision: 'deny', reason: /too many steps/ })
  const first = await registryOf(rules(['args.note.split(",", 2) == ["a", "b,c"] && args.note.split(",", 0) == [] && args.note.split(",", 9).size() == 3 && args.note.split("", 2)[1] == ",b,c"', 'deny']))
  t.match(await decidePolicy(first, 'pay', { note: 'a,b,c' }, asker), { decision: 'deny', reason: /denies it/ })
})

t.test('a rule that makes large values is not tried, and one that makes small ones is', async t => {
  const decide = async (when: string, args: object): Promise<{ decision: string, reason?: string }> => await decidePolicy(await registryOf(rules([when, 'deny', 'yes'])), 'pay', { amount: 1, ...args }, asker)
  const tags = Array.from({ length: 20_000 }, () => 'a')
  const large: Array<[string, object]> = [
    ['args.tags.join(args.note).size() > 3', { tags, note: 'b'.repeat(2_000) }],
    [`[args.note]${'.map(x, x + x)'.repeat(16)}.exists(x, x.contains("c"))`, { note: 'a'.repeat(1_000) }],
    ['bytes(args.note).json().x.all(x, x == 1.0)', { note: `{"x":[${'1,'.repeat(300_000)}1]}` }],
    ['args.tags.all(x, timestamp("2020-01-01T00:00:00Z").getHours(x) > 100 || true)', { tags }],
    ['duration(args.note) > duration("1s")', { note: '1h'.repeat(100_000) }],
    ['args.any.exists(x, args.any.exists(y, x.contains(y)))', { any: Object.fromEntries(tags.slice(0, 500).map((tag, at) => [tag.repeat(300) + at, 1])) }]
  ]
  for (const [when, args] of large) {
    const startedAt = performance.now()
    t.match(await decide(when, args), { decision: 'deny', reason: /too many steps/ }, when)
    t.ok(performance.now() - startedAt < 2_000, 'it is not tried')
  }
  const small: Array<[string, object]> = [
    ['args.tags.join(", ") == "a, b"', { tags: ['a', 'b'], note: 'x'.repeat(500_000) }],
    ['args.note.size() == 900000 && args.note.contains("password") == false', { note: 'a'.repeat(900_000) }],
    ['args.tags.map(x, x.upperAscii()).join("") == "AB"', { tags: ['a', 'b'], note: 'x'.repeat(10_000) }],
    ['(args.note + "!").endsWith("!") && [args.note, "b"].exists(x, x == "b")', { note: 'n' }],
    ['cel.bind(x, args.note + args.note, x == "nn") && {"a": args.note}.a == "n"', { note: 'n' }]
  ]
  for (const [when, args] of small) t.match(await decide(when, args), { decision: 'deny', reason: 'yes' }, when)
})

t.test('promise 10: a part that nearly stands at each place of a text is found in linear time, at the places where it stands', async t => {
  const late = `${'a'.repeat(10_000)}b${'a'.repeat(10_000)}`
  for (const call of ['contains(args.who.name)', 'indexOf(args.who.name) > -1', 'lastIndexOf(args.who.name) > -1', 'split(args.who.name).size() > 1']) {
    const registry = await registryOf(rules([`args.note.${call}`, 'deny']))
    const begun = process.cpuUsage().user
    t.match(await decidePolicy(registry, 'pay', { note: 'a'.repeat(500_000), who: { name: late } }, asker), { decision: 'allow' }, call)
    t.ok(process.cpuUsage().user - begun < 500_000, `${process.cpuUsage().user - begun} µs`)
  }
  const same = fc.tuple(fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 300 }), fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 12 }))
  await fc.assert(fc.asyncProperty(same, async ([note, part]) => {
    const when = `args.note.indexOf(args.who.name) == ${note.indexOf(part)} && args.note.lastIndexOf(args.who.name) == ${note.lastIndexOf(part)} && ` +
      `args.note.contains(args.who.name) == ${note.includes(part)} && args.note.split(args.who.name).size() == ${note.split(part).length}`
    t.match(await decidePolicy(await registryOf(rules([when, 'deny', 'yes'])), 'pay', { note, who: { name: part } }, asker), { decision: 'deny', reason: 'yes' }, when)
  }), { numRuns: 30 })
})

t.test('arguments are checked before rules are asked', async t => {
  const registry = await registryOf(rules(['args.amount > 1', 'deny']))
  t.match(await decidePolicy(registry, 'pay', { amount: 'much' }, asker), { decision: 'deny', reason: /do not fit the schema/ })
})

t.test('a policy file with faults lets no call run, and one that breaks later is not taken', async t => {
  const dir = await mkdtemp(join(base, 'policy-'))
  const policyFile = join(dir, 'policy.json')
  await writeFile(policyFile, '[{"when": "nobody == 1", "then": "deny"}]')
  t.match(await decidePolicy(await registryOf(undefined, {}, { policyFile }), 'pay', { amount: 1 }, asker), { decision: 'deny', reason: /policy file .* has faults/i })
  await writeFile(policyFile, '{"policy": [{"when": "args.amount > 5", "then": "deny", "reason": "too much"}]}')
  await writeFile(join(dir, 'tools.json'), JSON.stringify({ tools: [{ name: 'pay', schema, command: ['/bin/true'] }] }))
  const source = await openRegistrySource({ manifests: [join(dir, 'tools.json')], builtins: false, policyFile, onReload: () => {}, intervalMs: 20 })
  t.teardown(() => { source.close() })
  t.match(await decidePolicy(source.current(), 'pay', { amount: 6 }, asker), { decision: 'deny', reason: 'too much' })
  await writeFile(policyFile, '[{"when": "args.amount > 50", "then": "deny", "reason": "too much"}]')
  await waitFor('the change counts', async () => (await decidePolicy(source.current(), 'pay', { amount: 6 }, asker)).decision === 'allow')
  await writeFile(policyFile, '[{"when": ')
  await waitFor('the fault is found', () => source.problems().length > 0)
  t.equal((await decidePolicy(source.current(), 'pay', { amount: 60 }, asker)).decision, 'deny', 'the last good rules stay')
})
