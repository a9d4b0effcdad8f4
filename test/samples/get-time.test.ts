import t from 'tap'
import { callSample, copyWorkspace, failSample } from './sample-tool.ts'

t.test('A38 get_time tells the time of now in the zone, with its offset, in one line of JSON', async t => {
  const workspace = await copyWorkspace(t)
  const earliest = Math.floor(Date.now() / 1000)
  const now = await callSample(t, 'get_time', { timezone: 'Asia/Kolkata' }, workspace)
  const latest = Math.floor(Date.now() / 1000)
  t.equal(now['timezone'], 'Asia/Kolkata')
  t.equal(now['utc_offset'], '+05:30')
  t.ok(Number(now['unix']) >= earliest && Number(now['unix']) <= latest, 'unix is the time of the call')
  t.equal(Date.parse(String(now['datetime'])) / 1000, now['unix'], 'datetime is the same moment')
  t.equal(now['datetime'], `${String(now['date'])}T${String(now['time'])}+05:30`)
  t.equal(now['weekday'], new Date((Number(now['unix']) + 19_800) * 1000).toLocaleDateString('en-US', { weekday: 'long', timeZone: 'UTC' }))
})

t.test('get_time writes the offset of UTC in full', async t => {
  const now = await callSample(t, 'get_time', { timezone: 'UTC' }, await copyWorkspace(t))
  t.equal(now['utc_offset'], '+00:00')
})

t.test('get_time reads tz, and timezone wins when both are there', async t => {
  const workspace = await copyWorkspace(t)
  t.match(await callSample(t, 'get_time', { tz: 'Asia/Tokyo' }, workspace), { timezone: 'Asia/Tokyo', utc_offset: '+09:00' })
  t.match(await callSample(t, 'get_time', { tz: 'Asia/Tokyo', timezone: 'Asia/Dubai' }, workspace), { timezone: 'Asia/Dubai', utc_offset: '+04:00' })
})

t.test('A39 get_time refuses a zone that does not exist and one that is missing, in one line of JSON on stderr', async t => {
  const workspace = await copyWorkspace(t)
  t.equal(await failSample(t, 'get_time', { timezone: 'Mars/Olympus' }, workspace),
    'unknown time zone: Mars/Olympus (an IANA name is expected, such as Europe/Helsinki)')
  t.match(await failSample(t, 'get_time', {}, workspace), /^timezone is required/)
  t.match(await failSample(t, 'get_time', { timezone: 7 }, workspace), /^timezone is required/)
})
