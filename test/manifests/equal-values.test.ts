import { join } from 'node:path'
import { loadRegistry } from '@toolyard/manifests'
import t from 'tap'
import { entry } from './fixture.ts'
import { project } from './project.ts'

const inner: object = { constructor: { a: 1 } }
const near: unknown[] = [{ x: 1, y: [2] }, { toString: 1 }, 'near', 3, null]
const properties = {
  at: { enum: near },
  only: { const: { inner } },
  count: { type: 'integer', default: 1 }
}

for (const [what, defaulted] of [['', properties], [' of a schema without defaults', { at: properties.at, only: properties.only }]] as const) {
  t.test(`values${what} are equal by what they hold, under whatever names`, async t => {
    const directory = project(t, { 'a.json': { tools: [entry({ schema: { type: 'object', properties: defaulted } })] } })
    const registry = await loadRegistry({ manifests: [join(directory, 'a.json')], builtins: false })
    const validate = (args: Record<string, unknown>): unknown => registry.get('probe')?.validate(args)
    for (const at of [...near, { y: [2], x: 1 }]) t.match(validate({ at }), { ok: true }, JSON.stringify(at))
    t.match(validate({ only: { inner: { constructor: { a: 1 } } } }), { ok: true })
    const far: unknown[] = [{ toString: 2 }, { valueOf: 1 }, { x: 1, y: [2], constructor: 1 }, { hasOwnProperty: 1 }, [], {}, 'far', '3', 4, true]
    for (const at of far) {
      t.match(validate({ at }), { ok: false, issues: [{ path: '/at', message: /^must be one of/ }] }, JSON.stringify(at))
    }
    const others: unknown[] = [{ inner: { constructor: { a: 2 } } }, { inner: { toString: 1 } }, { valueOf: { inner } }, 'inner']
    for (const only of others) {
      t.match(validate({ only }), { ok: false, issues: [{ path: '/only', message: /^must be/ }] }, JSON.stringify(only))
    }
  })
}
