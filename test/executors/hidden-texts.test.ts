import fc from 'fast-check'
import { secretForms, withoutParts, withoutTexts } from '@toolyard/executors'
import t from 'tap'

/** Few letters, so that texts meet, overlap and repeat. */
const text = (min: number, max: number): fc.Arbitrary<string> => fc.array(fc.constantFrom('a', 'b'), { minLength: min, maxLength: max }).map(letters => letters.join(''))
const hidden = fc.array(text(6, 20), { minLength: 1, maxLength: 30 })

t.test('nothing of what is hidden stays in a text, however alike and however many the hidden texts are', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(hidden, text(0, 80), async (hide, said) => {
    const shown = withoutTexts(said, hide)
    return hide.every(each => !shown.includes(each))
  }), { numRuns: 2_000 }))
})

t.test('what is not hidden stays as it is', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(fc.array(fc.string({ minLength: 6 })), fc.string(), async (hide, said) => {
    const isThere = hide.some(each => said.includes(each))
    return isThere || withoutTexts(said, hide) === said
  })))
  const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index} of a key`)
  t.equal(withoutTexts('in front: line 7 of a key. Behind, and line 7', secretForms([lines[7] ?? ''], [])), 'in front: ***REDACTED***. Behind, and line 7')
  t.equal(withoutTexts('abcdefSECRET!', ['abcdef', 'cdefSECRET']), '***REDACTED***!', 'where two overlap, both are hidden')
  t.equal(withoutTexts('secret-1secret-1', ['secret-1'], '[secret]'), '[secret][secret]')
})

t.test('of a text that was cut, what is left of a hidden text at the ends of its lines is hidden too', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(text(12, 600), fc.integer({ min: 6, max: 599 }), async (secret, cut) => {
    const [begun, ended] = [secret.slice(0, cut), secret.slice(-cut)]
    const shown = withoutParts(`${ended} x\ny ${begun}`, [secret])
    return cut >= secret.length || shown === '***REDACTED*** x\ny ***REDACTED***'
  })))
  t.equal(withoutParts('cret-1 x secr', ['secret-1']), '***REDACTED*** x secr', 'fewer than six letters stay')
})
