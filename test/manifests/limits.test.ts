import { join } from 'node:path'
import t from 'tap'
import { loadRegistry, validateManifests } from '@toolyard/manifests'
import { entry, errors, load } from './fixture.ts'
import { descriptor, manifestOf, project } from './project.ts'

const sha256 = 'A'.repeat(64)
const skill = (tool: object, execution: object = {}): object => ({
  tools: [{ name: 'of_skill', ...tool }], allowlist: { sh: ['x'] }, execution: [{ tool: 'of_skill', binary: 'sh', subcommand: 'x', ...execution }]
})

t.test('X8 tools of all formats may set limits', async t => {
  const directory = project(t, {
    'skill/SKILL.md': '# Skill',
    'skill/tools.json': skill({ limits: { cpuSec: 3 }, timeoutSec: 2.5 }),
    'm.json': manifestOf(descriptor({ runtime: { limits: { cpu_sec: 2, memory_bytes: 2 ** 28 } } })),
    'tools.json': { tools: [entry({ name: 'command', limits: { cpuSec: 1, processes: 8, outputBytes: 100, Fsize: 1 } })] }
  })
  const registry = await loadRegistry({ manifests: ['tools.json', 'm.json', 'skill'].map(name => join(directory, name)), builtins: false })
  t.strictSame(registry.all().map(({ tool }) => tool.limits), [
    { cpuSec: 1, processes: 8, outputBytes: 100 }, { cpuSec: 2, memoryBytes: 2 ** 28 }, { cpuSec: 3 }
  ])
  t.match(registry.findings.filter(({ rule }) => rule === 'X21'), [{ severity: 'warning', path: ['tools', 0, 'limits', 'Fsize'] }], 'a limit that nobody knows is named')
})

t.test('X8 an invalid limit is refused with the allowed values', async t => {
  for (const cpuSec of [0, 1.5, '1', 1e9]) {
    t.match(errors(await load(t, entry({ limits: { cpuSec } }))), [{ message: 'parse manifest: tools[0].limits.cpuSec must be an integer from 1 to 86400' }])
    const directory = project(t, { 'm.json': manifestOf(descriptor({ runtime: { limits: { cpu_sec: cpuSec } } })), 's/SKILL.md': '# S', 's/tools.json': skill({ limits: { cpuSec } }) })
    t.match((await validateManifests([join(directory, 'm.json')])).findings, [{ severity: 'error', rule: 'X8', message: 'tools[0].runtime.limits.cpu_sec must be an integer from 1 to 86400' }])
    t.match((await validateManifests([join(directory, 's')])).findings, [{ severity: 'error', rule: 'SC1', message: /^tools\[0\]\.limits\.cpuSec: / }])
  }
  t.match(errors(await load(t, entry({ limits: 5 }))), [{ rule: 'AC10', message: 'parse manifest: tools[0].limits must be an object' }])
})

t.test('AC10 warm is a number of processes or "auto", of commands alone', async t => {
  for (const warm of [0, 1, 64, 'auto'] as const) t.equal((await load(t, entry({ warm }))).all()[0]?.tool.warm, warm === 0 ? undefined : warm)
  for (const warm of [-1, 65, 1.5, 'yes', true]) {
    t.match(errors(await load(t, entry({ warm }))), [{ message: 'parse manifest: tools[0].warm must be an integer from 0 to 64, or "auto"' }])
  }
  const directory = project(t, { 's/SKILL.md': '# S', 's/tools.json': skill({ warm: 1 }), 'm.json': manifestOf(descriptor({ warm: 1 })) })
  t.match((await validateManifests([join(directory, 's')])).findings, [{ severity: 'error', message: /unknown field `warm`/ }])
  t.match((await validateManifests([join(directory, 'm.json')])).findings, [{ severity: 'warning', rule: 'X21', message: /warm is no known field and is ignored/ }])
})

t.test('fault 48 a pin is 64 hexadecimal digits, in all formats', async t => {
  const registry = await load(t, entry({ sha256 }))
  t.match(registry.all()[0]?.tool.run, { sha256: sha256.toLowerCase() })
  t.match(registry.findings, [{ severity: 'warning', rule: 'fault 48' }], 'it is not that program')
  t.match(errors(await load(t, entry({ sha256: 'abc' }))), [{ rule: 'fault 48', message: 'tool[0] "probe": sha256 must be 64 hexadecimal digits' }])
  const directory = project(t, { 'm.json': manifestOf(descriptor({ sha256: 'abc' })), 's/SKILL.md': '# S', 's/tools.json': skill({}, { sha256: 'abc' }) })
  t.match((await validateManifests([join(directory, 'm.json')])).findings, [{ severity: 'error', rule: 'fault 48' }])
  t.match((await validateManifests([join(directory, 's')])).findings, [{ severity: 'error', rule: 'SC1', message: /^execution\[0\]\.sha256: / }])
  const pinned = project(t, { 's/SKILL.md': '# S', 's/tools.json': skill({}, { sha256 }) })
  const skills = await loadRegistry({ manifests: [join(pinned, 's')], builtins: false, skills: { path: process.env['PATH'] ?? '' } })
  t.match(skills.findings, [{ severity: 'warning', rule: 'fault 48', message: /is not the one that sha256 pins/ }])
})
