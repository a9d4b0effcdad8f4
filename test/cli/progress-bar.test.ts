import fc from 'fast-check'
import t from 'tap'
import { barText, ProgressBar } from 'toolyard'
import { anyCharacter } from '../support/any-character.ts'

t.test('a bar shows the share, the numbers and the text', async t => {
  t.equal(barText({ done: 40, total: 100, text: 'pages' }, 80), '[########------------] 40/100 pages')
  t.equal(barText({ done: 7, total: null, text: null }, 80), '7')
  t.equal(barText({ done: 0, total: 0, text: 'none' }, 80), '0/0 none')
  t.equal(barText({ done: 9, total: 3, text: null }, 80), '[####################] 9/3')
})

t.test('whatever a tool says, a bar is one line that fits, without commands of the terminal', async t => {
  const text = fc.option(fc.oneof(fc.string({ unit: anyCharacter }), fc.constant('\u001b[2J\n\r\t'), fc.constant('界'.repeat(99))))
  const numbers = [fc.nat(), fc.option(fc.nat()), text, fc.integer({ min: 1, max: 200 })] as const
  await t.resolves(fc.assert(fc.asyncProperty(...numbers, async (done, total, said, columns) => {
    const line = barText({ done, total, text: said }, columns)
    // eslint-disable-next-line no-control-regex -- these are what it is about
    t.ok(line.length < Math.max(columns, 2) && !/[\0-\x1f\x7f-\x9f]/.test(line), JSON.stringify(line))
  })))
})

t.test('a bar is drawn over itself, and removed once', async t => {
  let written = ''
  const bar = new ProgressBar({ columns: 40, write: piece => { written += piece } })
  bar.clear()
  bar.show({ done: 1, total: 2, text: null })
  bar.clear()
  bar.clear()
  t.equal(written, '\r\x1b[K[##########----------] 1/2\r\x1b[K')
})
