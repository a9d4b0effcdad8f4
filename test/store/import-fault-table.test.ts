import { ImportFaultTable } from '@toolyard/store'
import t, { type Test } from 'tap'
import { waitFor } from '../support/condition.ts'
import { connectTo } from '../support/connection.ts'
import { startTestRedis } from '../support/redis.ts'

const fault = { what: 'module', reason: 'ImportError: no' } as const
const server = await startTestRedis(t)

/** The table of one more process. */
async function openTable (t: Test): Promise<ImportFaultTable> {
  const table = new ImportFaultTable({ commands: await connectTo(t, server), subscriber: await connectTo(t, server, 'subscriber'), onChange: () => {} })
  t.teardown(() => { table.stop() })
  await table.start()
  return table
}

t.test('P29 all processes soon know a fault that one reports, and none after any of them withdraws it', async t => {
  const [one, other] = [await openTable(t), await openTable(t)]
  await one.report('shared', fault)
  t.strictSame(one.current().get('shared'), fault)
  await waitFor('the other to know', () => other.current().has('shared'))
  await other.withdraw('shared')
  t.notOk(other.current().has('shared'))
  await waitFor('the first to know', () => !one.current().has('shared'))
})

t.test('P29 a withdrawn fault doesn\'t come back when another process only confirms it', async t => {
  const table = await openTable(t)
  await table.report('confirmed', fault)
  await table.withdraw('confirmed')
  await table.confirm('confirmed', fault)
  const fresh = await openTable(t)
  t.notOk(fresh.current().has('confirmed'))
})

t.test('P29 a long reason is cut', async t => {
  const table = await openTable(t)
  await table.report('long', { what: 'class', reason: 'x'.repeat(100_000) })
  t.equal(table.current().get('long')?.reason.length, 500)
})
