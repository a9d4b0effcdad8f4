import { createdAt, newJobId } from '@toolyard/store'
import t from 'tap'

t.test('X3 a job id is a UUID of version 7', async t => {
  for (let count = 0; count < 1_000; count++) t.match(newJobId(), /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
})

t.test('ids of one process are in the order of creation, and none comes twice', async t => {
  const ids = Array.from({ length: 20_000 }, () => newJobId())
  t.same(ids, ids.toSorted())
  t.equal(new Set(ids).size, ids.length)
})

t.test('ids of one millisecond can\'t be guessed from each other', async t => {
  const ends = new Set(Array.from({ length: 5_000 }, () => newJobId().slice(-12)))
  t.equal(ends.size, 5_000)
})

t.test('an id tells when it was made', async t => {
  const before = Date.now()
  const at = createdAt(newJobId())
  t.ok(at >= before && at <= Date.now())
})
