import { text as readText } from 'node:stream/consumers'
import { byteForms, htmlSafeForms, starred, starStream } from '@toolyard/executors'
import fc from 'fast-check'
import t from 'tap'

/** Few letters, so that texts meet, overlap and repeat. */
const text = (min: number, max: number): fc.Arbitrary<string> => fc.array(fc.constantFrom('a', 'b'), { minLength: min, maxLength: max }).map(letters => letters.join(''))
const hidden = fc.array(fc.oneof(text(6, 20), text(250, 600)), { minLength: 1, maxLength: 12 })

async function inPieces (said: string, sizes: readonly number[], lists: ReadonlyArray<readonly string[]>): Promise<string> {
  const stream = starStream(lists)
  const shown = readText(stream)
  let at = 0
  for (const size of sizes) stream.write(Buffer.from(said.slice(at, at += size)))
  stream.end(Buffer.from(said.slice(at)))
  return await shown
}

t.test('bytes that come in pieces show what they show as a whole, and nothing of what is hidden', async t => {
  const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 40 })
  await t.resolves(fc.assert(fc.asyncProperty(hidden, hidden, text(0, 900), sizes, async (one, other, said, sizes) => {
    const whole = starred(said, [one, other])
    const shows = [...one, ...other].some(each => whole.includes(each))
    return !shows && whole.length === said.length && whole === await inPieces(said, sizes, [one, other])
  }), { numRuns: 1_000 }))
})

t.test('bytes that are no beginning of a hidden text are shown at once', async t => {
  const stream = starStream([['secret-1', 'x'.repeat(500)]])
  for (const [said, shown] of [['no se', 'no '], ['arch', 'search'], ['secret-', ''], ['1!', '********!'], ['x'.repeat(300), null]] as const) {
    stream.write(Buffer.from(said))
    t.equal((stream.read() as Buffer | null)?.toString() ?? null, shown === '' ? null : shown ?? '*'.repeat(45), said)
  }
})

t.test('a value is hidden as libraries write it in JSON that a page may hold, and in Latin-1 and UTF-8', async t => {
  const value = 'a+b=<ü>&\'"/'
  const forms = byteForms(htmlSafeForms(value))
  for (const written of [
    'a+b\\u003d\\u003cü\\u003e\\u0026\\u0027\\"/', 'a\\u002Bb=\\u003C\\u00FC\\u003E\\u0026\\u0027\\u0022/',
    'a+b=\\u003cü\\u003e\\u0026\'\\"/', 'a+b=\\u003C\\u00fc\\u003E\\u0026\\u0027\\u0022\\/'
  ]) {
    const bytes = Buffer.from(written).toString('latin1')
    t.equal(starred(`"${bytes}"`, [forms]), `"${'*'.repeat(bytes.length)}"`, written)
  }
})
