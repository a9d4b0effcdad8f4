import { createHash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createPins } from '@toolyard/sandbox'
import t from 'tap'

t.test('a pinned program is found as soon as there is a place for its copy', async t => {
  const dir = t.testdir({ tool: '#!/bin/sh\necho 1\n' })
  const before = process.env['TMPDIR']
  const pins = createPins()
  t.teardown(async () => {
    if (before === undefined) delete process.env['TMPDIR']
    else process.env['TMPDIR'] = before
    await pins.close()
  })
  const pin = { file: join(dir, 'tool'), sha256: createHash('sha256').update('#!/bin/sh\necho 1\n').digest('hex') }
  process.env['TMPDIR'] = join(dir, 'tmp')
  t.equal(await pins.check(pin), undefined)
  mkdirSync(join(dir, 'tmp'))
  t.type(await pins.check(pin), 'object')
})
