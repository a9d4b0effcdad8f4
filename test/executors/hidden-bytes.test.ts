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

t.test('whole lines are shown at once, and how much is shown tells nothing of what is hidden', async t => {
  const shown = (hide: string, pieces: readonly string[]): Array<string | undefined> => {
    const stream = starStream([[hide]])
    return pieces.map(piece => {
      stream.write(Buffer.from(piece))
      return (stream.read() as Buffer | null)?.toString()
    })
  }
  t.same(shown('secret-1', ['data: secret-1\n\n', 'secret', '-1', '.\nse']), ['data: ********\n\n', undefined, undefined, '********.\n'])
  const lengths = (hide: string, pieces: readonly string[]): Array<number | undefined> => shown(hide, pieces).map(each => each?.length)
  const said = fc.array(text(1, 400), { maxLength: 5 })
  await t.resolves(fc.assert(fc.asyncProperty(text(6, 300), text(6, 300), said, async (one, other, pieces) => {
    t.same(lengths(one, pieces), lengths(other, pieces))
  })))
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
