import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { readSamples, samplesDir } from './sample-tool.ts'

const tools = await readSamples()
const shebangs: Record<string, string> = { mjs: 'node', sh: 'sh', py: 'python3' }

t.test('there are at least two sample tools in each of three languages, and no name is used twice', async t => {
  for (const extension of Object.keys(shebangs)) {
    t.ok(tools.filter(tool => tool.command[0]?.endsWith(`.${extension}`)).length >= 2, extension)
  }
  t.equal(new Set(tools.map(tool => tool.name)).size, tools.length)
})

for (const tool of tools) {
  t.test(`the manifest's entry for ${tool.name} has everything a model needs`, async t => {
    t.match(tool.name, /^[a-z_]{1,64}$/)
    t.match(tool.description, /^[A-Z][^\n]{20,400}\.$/)
    t.ok(Number.isInteger(tool.timeoutSec) && tool.timeoutSec >= 1 && tool.timeoutSec <= 60, 'timeoutSec')
    t.equal(tool.schema.type, 'object')
    t.equal(tool.schema.additionalProperties, false)
    t.strictSame(tool.schema.required.filter(name => !Object.hasOwn(tool.schema.properties, name)), [])
    for (const [name, property] of Object.entries(tool.schema.properties)) t.type(property['description'], 'string', `${name} is described`)
  })

  t.test(`the schema of ${tool.name} is a valid JSON Schema, and only its defaults are filled in`, async t => {
    const ajv = new Ajv({ strict: true, strictRequired: true, useDefaults: true, validateSchema: true })
    const validate = ajv.compile(tool.schema)
    const args = Object.fromEntries(tool.schema.required.map(name => [name, 'x']))
    t.ok(validate(args), ajv.errorsText(validate.errors))
    const defaults = Object.entries(tool.schema.properties).filter(([, property]) => Object.hasOwn(property, 'default'))
    t.strictSame(Object.keys(args).sort(), [...tool.schema.required, ...defaults.map(([name]) => name)].sort())
    t.notOk(validate({ ...args, surprise: 1 }), 'an argument that nobody knows is refused')
  })

  t.test(`the program of ${tool.name} can be started on any machine`, async t => {
    const program = join(samplesDir, tool.command[0] ?? '')
    t.match(tool.command, [/^\.\/tools\/bin\/[a-z_]+\.(mjs|sh|py)$/])
    // The umask of a clone decides on the bits of group and others; git keeps the rest.
    t.equal((await stat(program)).mode & 0o700, 0o700)
    const [first] = (await readFile(program, 'utf8')).split('\n')
    t.equal(first, `#!/usr/bin/env ${shebangs[program.split('.').at(-1) ?? '']}`)
  })

  t.test(`git keeps the program of ${tool.name} executable`, { skip: !existsSync(join(samplesDir, '../.git')) && 'not a clone' }, async t => {
    const program = join(samplesDir, tool.command[0] ?? '')
    const listed = execFileSync('git', ['ls-files', '--stage', '--', basename(program)], { cwd: dirname(program), encoding: 'utf8' })
    t.match(listed, /^100755 /)
  })
}
