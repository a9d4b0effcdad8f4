import t from 'tap'
import { entry, names } from './fixture.ts'
import { descriptor, loadProject, manifestOf, told } from './project.ts'

t.test('P24 P25 P26 PC9 PC10 a later manifest replaces a tool as a whole', async t => {
  const registry = await loadProject(t, {
    'base.json': manifestOf(descriptor({ name: 'a', permissions: ['network'], config: { x: 1 } }), descriptor({ name: 'b' })),
    'local.yaml': 'schema_version: "1.0"\nmetadata: {name: local, description: Ours}\ntools:\n- {name: a, description: Ours., module: mods.probe}\n'
  })
  t.strictSame(names(registry), ['a', 'b'])
  t.match(registry.get('a')?.tool, { description: 'Ours.', run: { config: {} } })
  t.equal(registry.get('a')?.tool.permissions, undefined, 'fields are not merged')
  t.match(told(registry), [/^warning X13 tool\[0\] "a": replaces the one of .*base\.json$/])
})

t.test('P27 X14 PC10 a local manifest disables a risky tool of any format, and a later one enables it', async t => {
  const off = (...list: string[]) => manifestOf(...list.map(name => ({ name, enabled: false })))
  const files = {
    'base.json': manifestOf(descriptor()),
    'agentcli.json': { tools: [entry({ name: 'Odd Name' })] },
    'off.json': off('probe', 'Odd Name', 'data_file_read')
  }
  const registry = await loadProject(t, files, true)
  const published = registry.published().map(({ tool }) => tool.name)
  t.ok(published.includes('tools_file_search'))
  for (const name of ['probe', 'Odd Name', 'data_file_read']) t.notOk(published.includes(name), name)
  t.match(registry.get('probe')?.tool, { enabled: false, jobType: 'pylot.probe', description: 'Looks at something.' })
  const again = await loadProject(t, { ...files, 'on.yaml': 'schema_version: "1.0"\nmetadata: {name: a, description: b}\ntools: [{name: probe, disabled: false}]\n' })
  t.equal(again.get('probe')?.tool.enabled, true)
})

t.test('X13 X14 formats override each other by the order of manifests, and a built-in tool only on request', async t => {
  const files = { 'p.json': manifestOf(descriptor(), descriptor({ name: 'data_file_read' })), 'a.json': { tools: [entry(), entry({ name: 'data_file_read', override: true })] } }
  const registry = await loadProject(t, files, true)
  t.match([registry.get('probe')?.tool.jobType, registry.get('data_file_read')?.tool.jobType], ['agentcli.probe', 'agentcli.data_file_read'])
  t.match(registry.findings, [
    { severity: 'error', rule: 'X13', message: 'tool[1] "data_file_read": is the name of a built-in tool, which stays' },
    { severity: 'warning', rule: 'X13', message: /^tool\[0\] "probe": replaces the one of .*p\.json/ },
    { severity: 'warning', rule: 'X13', message: 'tool[1] "data_file_read": replaces the built-in tool' }
  ])
  const reversed = await loadProject(t, { 'a.json': { tools: [entry()] }, 'p.json': manifestOf(descriptor()) })
  t.equal(reversed.get('probe')?.tool.jobType, 'pylot.probe')
})

t.test('X16 B6 PC10 PC16 a later tool that cannot be imported, or is broken, leaves the earlier one working', async t => {
  for (const later of [descriptor({ module: 'no.such' }), descriptor({ module: undefined }), descriptor({ class_name: 'Nope' }), descriptor({ inputs: 1 })]) {
    const registry = await loadProject(t, { 'base.json': manifestOf(descriptor({ description: 'The good one.' })), 'local.json': manifestOf(later, descriptor({ name: 'other' })) })
    t.strictSame(registry.published().map(({ tool }) => tool.name), ['probe', 'other'])
    t.match(registry.get('probe')?.tool, { description: 'The good one.', source: { file: /base\.json$/ } })
    t.match(registry.findings[0], { severity: 'error', file: /local\.json$/, index: 0, tool: 'probe' })
  }
})

t.test('X16 a later tool that works replaces one that does not', async t => {
  const registry = await loadProject(t, { 'a.json': manifestOf(descriptor({ module: 'no.such' })), 'b.json': manifestOf(descriptor()) })
  t.equal(registry.published().length, 1)
})

t.test('P25 X14 the explanation of a tool shows what each layer did to it', async t => {
  const registry = await loadProject(t, {
    'a.json': manifestOf(descriptor()),
    'b.json': manifestOf(descriptor({ module: 'no.such' })),
    'c.json': { tools: [entry({ name: 'filler' }), entry()] },
    'd.json': manifestOf({ name: 'probe', disabled: true }),
    'e.json': manifestOf(descriptor({ name: 'broken', description: '' }), { name: 'nobody', enabled: true })
  }, true)
  t.match(registry.explain('probe'), {
    name: 'probe',
    tool: { jobType: 'agentcli.probe', enabled: false },
    published: false,
    steps: [
      { layer: 0, file: /a\.json$/, index: 0, format: 'tool-manifest', did: 'declared' },
      { layer: 1, file: /b\.json$/, did: 'refused' },
      { layer: 2, file: /c\.json$/, index: 1, format: 'agentcli', did: 'replaced' },
      { layer: 3, file: /d\.json$/, did: 'switched off' }
    ],
    findings: [{ rule: 'P29' }, { rule: 'X16' }, { rule: 'X13' }]
  })
  t.match(registry.explain('data_file_read'), { published: true, steps: [{ format: 'builtin', file: 'builtin', did: 'declared' }], findings: [] })
  t.match(registry.explain('broken'), { steps: [], findings: [{ rule: 'P14' }] })
  t.notOk('tool' in (registry.explain('broken') ?? {}))
  t.match(registry.explain('nobody'), { steps: [{ did: 'switched nothing' }], findings: [{ rule: 'X14' }] })
  t.equal(registry.explain('unheard'), undefined)
})
