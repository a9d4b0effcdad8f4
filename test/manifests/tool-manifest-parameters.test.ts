import t from 'tap'
import { errors } from './fixture.ts'
import { descriptor, loadTools, soundTool } from './project.ts'

t.test('P20 X17 PC17 inputs become a JSON Schema, with a list of what is required', async t => {
  const { parameters } = await soundTool(t, {
    inputs: {
      path: { type: 'string', required: true, description: 'Where.', minLength: 1 },
      depth: { type: 'integer', default: 2, enum: [1, 2, 3], required: false },
      tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } }
    }
  })
  t.strictSame(parameters, {
    type: 'object',
    properties: {
      path: { type: 'string', description: 'Where.', minLength: 1 },
      depth: { type: 'integer', default: 2, enum: [1, 2, 3] },
      tags: { type: 'array', items: { type: 'string', pattern: '^[a-z]+$' } }
    },
    required: ['path']
  })
  t.strictSame((await soundTool(t, {})).parameters, { type: 'object', properties: {} }, 'without inputs')
})

t.test('X17 nested properties and items are written the same way, or as JSON Schema', async t => {
  const { parameters } = await soundTool(t, {
    inputs: {
      range: { type: 'object', properties: { from: { type: 'integer', required: true }, to: { type: 'integer' } } },
      rows: { type: 'array', items: { type: 'object', required: ['a'], properties: { a: { type: 'string' }, b: { type: 'string', required: true } } } }
    }
  })
  t.strictSame(parameters['properties'], {
    range: { type: 'object', properties: { from: { type: 'integer' }, to: { type: 'integer' } }, required: ['from'] },
    rows: { type: 'array', items: { type: 'object', required: ['a', 'b'], properties: { a: { type: 'string' }, b: { type: 'string' } } } }
  })
})

t.test('X17 X18 calls are checked against it: defaults apply, other arguments pass, nothing is converted', async t => {
  const registry = await loadTools(t, descriptor({ inputs: { path: { type: 'string', default: '.' }, short: { type: 'boolean', required: true } } }))
  const probe = registry.get('probe')
  t.strictSame(probe?.validate({ short: true, more: 1 }), { ok: true, arguments: { short: true, more: 1, path: '.' } })
  t.match(probe?.validate({ short: 'yes' }), { ok: false, issues: [{ path: '/short' }] })
  t.match(probe?.validate({}), { ok: false, issues: [{ path: '/short', message: 'is required' }] })
})

t.test('P20 PC5 faults of inputs are errors with their place', async t => {
  const types = "must be one of ['array', 'boolean', 'integer', 'number', 'object', 'string']"
  const cases: Array<[unknown, string]> = [
    [[], ' must be an object'],
    [null, ' must be an object'],
    [{ p: 'string' }, '.p must be an object'],
    [{ p: {} }, `.p.type ${types}`],
    [{ p: { type: 'null' } }, `.p.type ${types}`],
    [{ p: { type: ['string', 'null'] } }, `.p.type ${types}`],
    [{ p: { type: 'string', required: 'yes' } }, '.p.required must be a boolean when provided'],
    [{ p: { type: 'string', required: null } }, '.p.required must be a boolean when provided'],
    [{ p: { type: 'string', enum: [] } }, '.p.enum must be a non-empty list'],
    [{ p: { type: 'array', items: [] } }, '.p.items must be an object'],
    [{ p: { type: 'object', properties: { q: 1 } } }, '.p.properties.q must be an object']
  ]
  for (const [inputs, message] of cases) {
    const registry = await loadTools(t, descriptor({ inputs }))
    t.equal(errors(registry)[0]?.message.startsWith(`tools[0].inputs${message}`), true, `${message}: ${errors(registry)[0]?.message}`)
  }
})

t.test('P20 the error for a whole schema in place of inputs says what to write', async t => {
  const registry = await loadTools(t, descriptor({ inputs: { type: 'object', properties: { p: { type: 'string' } }, required: ['p'] } }))
  const told = errors(registry).map(({ path, fix }) => [path?.at(-1), fix])
  t.match(told[0], ['type', /^Write what a schema has in properties into inputs itself/])
  t.match(told.at(-1), ['required', /^Write "required": true into each parameter that is/])
})

t.test('PC6 all parameters that are wrong are found', async t => {
  const inputs = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}`, { type: 'text' }]))
  t.equal(errors(await loadTools(t, descriptor({ inputs }))).length, 30)
})

t.test('P21 PC5 outputs are checked like inputs, except for required', async t => {
  const tool = await soundTool(t, { outputs: { clean: { type: 'boolean', required: 'whatever' }, list: { type: 'array', items: { type: 'integer' } } } })
  t.strictSame(tool.run.kind === 'python' && tool.run.outputs, { clean: { type: 'boolean' }, list: { type: 'array', items: { type: 'integer' } } })
  t.notOk('outputs' in (await soundTool(t, {})).run)
  t.match(errors(await loadTools(t, descriptor({ outputs: { clean: { type: 'bool' } } }))), [{ rule: 'P21', message: /^tools\[0\]\.outputs\.clean\.type must be one of/ }])
})

t.test('X17 a default that its parameter refuses is a warning', async t => {
  for (const field of [{ type: 'integer', default: 1.5 }, { type: 'string', default: 1 }, { type: 'string', enum: ['a'], default: 'b' }, { type: 'array', default: {} }]) {
    const registry = await loadTools(t, descriptor({ inputs: { p: field } }))
    t.match(registry.findings, [{ severity: 'warning', rule: 'X17', path: ['tools', 0, 'inputs', 'p', 'default'] }])
  }
  await soundTool(t, { inputs: { a: { type: 'number', default: 1 }, b: { type: 'object', default: {} }, c: { type: 'integer', default: 1.0 } } })
})

t.test('X17 schemas that cannot be used are refused: broken ones, and remote references', async t => {
  for (const [field, message] of [
    [{ type: 'string', minLength: -1 }, /is not valid JSON Schema/],
    [{ type: 'array', items: { $ref: 'https://example.org/x.json' } }, /refers to "https:\/\/example\.org\/x\.json"/],
    [{ type: 'array', items: { $ref: '#/nowhere' } }, /does not compile/],
    [{ type: 'string', pattern: '(' }, /is not a valid regular expression/]
  ] as const) {
    for (const place of ['inputs', 'outputs']) {
      const registry = await loadTools(t, descriptor({ [place]: { p: field } }), descriptor({ name: 'sibling' }))
      t.match(errors(registry), [{ rule: 'X17', path: ['tools', 0, place], message }])
      t.equal(registry.published().length, 1)
    }
  }
})
