import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createFixture } from '../executors/fixture.ts'

const fixture = createFixture(t)
const large = join(fixture.workspace, 'large')
writeFileSync(large, '')
truncateSync(large, 10_485_760)
const many = join(fixture.workspace, 'many')
mkdirSync(many)
for (let n = 0; n < 1_000; n++) writeFileSync(join(many, `${n}`), '')

const work: Record<string, [jobType: string, args: Record<string, unknown>]> = {
  'files are hashed': ['workspace.stat', { path: 'large' }],
  'lines of files are looked for': ['data.file_read', { path: 'large', start_line: 2 }],
  'directories are listed': ['workspace.list', { path: 'many', max_results: 1 }]
}

for (const [what, [jobType, args]] of Object.entries(work)) {
  const calls = async (tenant: string, count: number, ended: string[]): Promise<void> => {
    await Promise.all(Array.from({ length: count }, async () => {
      t.match(await fixture.runBuiltinOnly(jobType, args, { tenant }), { ok: true })
      ended.push(tenant)
    }))
  }

  t.test(`tenants take turns where ${what}: a call of one is done before the first of 20 that another has begun`, async t => {
    const ended: string[] = []
    await Promise.all([calls('a', 20, ended), calls('b', 1, ended)])
    t.equal(ended[0], 'b')
  })
}
