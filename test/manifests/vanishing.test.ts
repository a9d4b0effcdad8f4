import fs from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { loadRegistry } from '@toolyard/manifests'
import { entry } from './fixture.ts'
import { descriptor, manifestOf, project } from './project.ts'

const skill = {
  'skills/dates/SKILL.md': '---\nname: dates\ndescription: Dates.\n---\nUse it.\n',
  'skills/dates/tools.json': { tools: [{ name: 'day', description: 'd', parameters: { type: 'object' } }], allowlist: { date: ['-u'] }, execution: [{ tool: 'day', binary: 'date', subcommand: '-u', args: [] }] }
}
type Read = (...args: unknown[]) => Promise<unknown>
const reads = fs as unknown as Record<string, Read>

for (const name of ['stat', 'lstat', 'realpath', 'readFile', 'readdir', 'readlink', 'open']) {
  void t.test(`a manifest is served or is a finding when any ${name} fails while it is read`, async t => {
    const directory = project(t, { 'a.json': { tools: [entry({ name: 'a' })] }, 'b.json': manifestOf(descriptor({ name: 'b' })), ...skill })
    const manifests = ['a.json', 'b.json', 'skills', 'skills/dates/tools.json'].map(path => join(directory, path))
    const original = reads[name] as Read
    t.teardown(() => {
      reads[name] = original
      syncBuiltinESMExports()
    })
    let calls = 0
    for (let at = 1; at <= calls + 1; at++) {
      calls = 0
      reads[name] = async (...args) => {
        if (++calls === at) throw Object.assign(new Error(`ENOENT: no such file or directory, ${name}`), { code: 'ENOENT', syscall: name })
        return await original(...args)
      }
      syncBuiltinESMExports()
      await t.resolves(loadRegistry({ manifests, builtins: false }), `call ${at}`)
    }
  })
}
