import { makePlaceholder, withValues } from '@toolyard/executors'
import fc from 'fast-check'
import t from 'tap'

const secret = { placeholder: makePlaceholder(), value: 'the-value' }
const foreign = makePlaceholder()
const piece = fc.oneof(fc.string({ maxLength: 12 }), fc.constantFrom(secret.placeholder, foreign, 'Bearer ', 'Basic ', ':'))
const text = fc.array(piece, { maxLength: 6 }).map(pieces => pieces.join(''))

void t.test('values take the place of their placeholders in values of headers, and nothing else changes', async t => {
  fc.assert(fc.property(fc.array(fc.tuple(fc.constantFrom('x-token', 'Cookie', secret.placeholder), text), { maxLength: 5 }), headers => {
    const written = headers.flat()
    const sent = withValues(written, [secret])
    t.strictSame(sent, headers.flatMap(([name, value]) => [name, value.split(secret.placeholder).join(secret.value)]))
    t.strictSame(withValues(written, []), written)
  }))
})

void t.test('a user and password of Basic are read and written again only where they hold a placeholder', async t => {
  fc.assert(fc.property(text, credentials => {
    const encoded = `Basic ${Buffer.from(credentials).toString('base64')}`
    const [, sent = ''] = withValues(['Authorization', encoded], [secret])
    const whole = Buffer.from(credentials).toString('utf8').split(secret.placeholder).join(secret.value)
    t.equal(sent, credentials.includes(secret.placeholder) ? `Basic ${Buffer.from(whole).toString('base64')}` : encoded)
  }))
  fc.assert(fc.property(fc.base64String(), encoded => { t.strictSame(withValues(['authorization', `basic ${encoded}`], [secret]), ['authorization', `basic ${encoded}`]) }))
  const value = { ...secret, value: foreign }
  t.strictSame(withValues(['a', secret.placeholder], [value, { placeholder: foreign, value: 'second' }]), ['a', foreign], 'what a value holds is no placeholder')
})
