import t from 'tap'
import { surveySession } from '@toolyard/workspace'
import { leavesLoopFree } from './longest-turn.ts'

const files = 2_000
const walks = 60

t.test('promise 6: any number of sessions whose files are counted at once leave the event loop free', async t => {
  const dir = t.testdir(Object.fromEntries(Array.from({ length: files }, (_, place) => [`f${place}`, ''])))
  const options = { mostBytes: 1e9, since: undefined, tenant: 'a' }
  await leavesLoopFree(t, `${walks} walks`, async () => {
    const surveys = await Promise.all(Array.from({ length: walks }, async () => await surveySession(dir, options)))
    t.ok(surveys.every(({ entries }) => entries === files))
  })
})

t.test('promise 8: a session is counted though those of another tenant take long', async t => {
  const large = t.testdir({ large: Object.fromEntries(Array.from({ length: files }, (_, place) => [`f${place}`, ''])), small: { f: '' } })
  let ended = 0
  const others = Array.from({ length: walks }, async () => {
    await surveySession(`${large}/large`, { mostBytes: 1e9, since: undefined, tenant: 'a' })
    ended += 1
  })
  await surveySession(`${large}/small`, { mostBytes: 1e9, since: undefined, tenant: 'b' })
  t.equal(ended, 0)
  await Promise.all(others)
})
