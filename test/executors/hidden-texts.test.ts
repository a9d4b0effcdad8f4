import fc from 'fast-check'
import { readWhole, writeJson } from '@toolyard/contract/terms'
import { secretForms, withoutParts, withoutTexts, withoutTextsIn } from '@toolyard/executors'
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
  t.equal(withoutTexts('in front: line 7 of a key. Behind, and line 7', await secretForms([lines[7] ?? ''], [])), 'in front: ***REDACTED***. Behind, and line 7')
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

t.test('a secret of digits is hidden where it comes as a number, however that is written', async t => {
  const shown = async (secret: string, json: string): Promise<string> => {
    return writeJson(withoutTextsIn(readWhole(json), await secretForms([secret], [])))
  }
  t.equal(await shown('4815162342', '{"a": 4815162342, "b": [4815162342.0, 4.815162342e9], "c": 7}'), '{"a":"***REDACTED***","b":["***REDACTED***.0","***REDACTED***"],"c":7}')
  t.equal(await shown('48151623421234567890123', '{"z": 48151623421234567890123, "a": 90071992547409931}'), '{"z":"***REDACTED***","a":90071992547409931}')
  t.equal(await shown('48151623421234567890123', '48151623421234567890123'), '"***REDACTED***"')
})

t.test('of a secret that is a document in JSON, long texts and the items of lists are hidden, and fields with their texts', async t => {
  const key = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\n-----END KEY-----\n'
  const secret = { type: 'account', project_id: 'my-project', keys: { pin: 1_234_567, private_key: key }, codes: ['code-one'] }
  for (const value of [JSON.stringify(secret), JSON.stringify(secret, null, 2)]) {
    const hide = await secretForms([value], [])
    const mark = '***REDACTED***'
    const shown = withoutTextsIn({ mine: secret }, hide)
    t.same(shown, { mine: { type: mark, project_id: mark, keys: { pin: mark, private_key: mark }, codes: [mark] } })
    const others = { name: 'my-project', pin: 7, type: 'file', private_key: 'none' }
    t.same(withoutTextsIn(others, hide), others)
    t.equal(withoutTexts('the line MIIEvQIBADANBgkqhkiG9w0B of it', hide), `the line ${mark} of it`)
  }
})

t.test('what is escaped in a text is read before it is looked for, and stays as it is otherwise', async t => {
  const hide = await secretForms(['a+b/c=<d>&e', 'töken-1'], [])
  t.equal(withoutTexts('{"error": "no a\\u002Bb/c\\u003D\\u003Cd\\u003E\\u0026e", "q": "\\u0022"}', hide), '{"error": "no ***REDACTED***", "q": "\\u0022"}')
  t.equal(withoutTexts('t\\u00F6ken-1', hide), '***REDACTED***')
  t.equal(withoutTexts('\\\\u0061 and \\u0062', hide), '\\\\u0061 and \\u0062')
})

t.test('a value is hidden in each way to write a URL, whatever is escaped there, and what is beside it stays', async t => {
  const value = 'p@ss w/o!rd(x)*y~z"q\\é+=&\u{1f511}'
  const hide = await secretForms([value], [])
  const octets = (text: string): string => [...Buffer.from(text)].map(octet => `%${octet.toString(16).padStart(2, '0')}`).join('')
  const escape = (text: string, plain: RegExp): string => [...text].map(character => plain.test(character) ? character : octets(character)).join('')
  const large = (text: string): string => text.replace(/%../g, octet => octet.toUpperCase())
  const forms = [/[a-z]/, /[a-z/]/, /[a-z/~!()*]/, /[^ &]/, /[^%]/, /^$/].map(plain => escape(value, plain))
  for (const form of [...forms, ...forms.map(large), new URLSearchParams([['', value]]).toString().slice(1), encodeURI(value)]) {
    t.equal(withoutTexts(`a%20b?c=${form}&d=%22 1+1`, hide), 'a%20b?c=***REDACTED***&d=%22 1+1', form)
  }
})

t.test('base64 on several lines is hidden, as a whole and line by line', async t => {
  const value = Array.from({ length: 9 }, (_, index) => `part ${index} of a long value;`).join('')
  const hide = await secretForms([value], [])
  for (const length of [64, 76]) {
    const lines = (text: string): string[] => Buffer.from(text).toString('base64').match(new RegExp(`.{1,${length}}`, 'g')) ?? []
    for (const each of lines(value).slice(0, -1)) t.equal(withoutTexts(`> ${each}`, hide), '> ***REDACTED***')
    t.equal(withoutTexts(`is:\n${lines(value).join('\r\n')}\nthere`, hide).replace(/(?:\*\*\*REDACTED\*\*\*\s*)+/, '* '), 'is:\n* there')
    const inside = withoutTexts(lines(`user:${value}:1`).join('\n'), hide)
    t.ok(lines(`user:${value}:1`).every(each => !inside.includes(each)), inside)
  }
})

t.test('a hidden text that has NULs between its letters is hidden, and NULs elsewhere stay', async t => {
  const spread = (text: string, nulls: number): string => [...text].map(letter => letter + '\0'.repeat(nulls)).join('')
  for (const nulls of [1, 3]) {
    t.equal(withoutTexts(spread('it is secret-1.', nulls), ['secret-1']).replaceAll('\0', ''), 'it is ***REDACTED***.')
    t.equal(withoutTexts(spread('it is nothing.', nulls), ['secret-1']), spread('it is nothing.', nulls))
    t.notMatch(withoutParts(spread('a secret-1\nof', nulls), ['secret-1']).replaceAll('\0', ''), /secret-1/)
    t.equal(withoutParts(spread('it is secret', nulls), ['secret-1']), 'it is ***REDACTED***', 'also where it is cut')
    t.equal(withoutParts(spread('cret-12 it is', nulls).slice(1), ['secret-12']), '***REDACTED*** it is')
    t.equal(withoutParts(spread('it is nothing', nulls), ['secret-1']), spread('it is nothing', nulls))
  }
})
