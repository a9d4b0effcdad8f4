import { ago, argumentsOf, bytes, duration, fieldAt, fieldsOf, hrefOf, initialsOf, readRoute, snippetsOf } from '@toolyard/console'
import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import t from 'tap'

t.test('a form is made from a schema, and its texts become arguments', async t => {
  const fields = fieldsOf({
    properties: {
      path: { type: 'string', description: 'The file.' }, count: { type: 'integer', default: 2 }, deep: { type: 'boolean' }, mode: { enum: ['fast', 1] }, list: { type: 'array' }, 'a.b': { type: 'null' }
    },
    required: ['path']
  }) ?? []
  t.same(fields.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial]), [
    ['path', 'text', true, ''], ['count', 'number', false, '2'], ['deep', 'boolean', false, ''], ['mode', 'choice', false, ''], ['list', 'json', false, ''], ['a.b', 'json', false, '']
  ])
  t.same(argumentsOf(fields, { path: 'a', count: '' }), { path: 'a' }, 'what is empty is left out')
  t.throws(() => argumentsOf(fields, { path: '', count: 'three' }), /'path' must be filled in\. 'count' must be a number\./, 'all fields are told')
  t.same(argumentsOf(fields, { path: 'a', count: '3', deep: 'false', mode: '1', list: '["x"]' }), { path: 'a', count: 3, deep: false, mode: 1, list: ['x'] })
  t.throws(() => argumentsOf(fields, { path: 'a', count: 'three' }), /'count' must be a number/)
  t.throws(() => argumentsOf(fields, { path: 'a', list: 'x, y' }), /'list' must be JSON/)
})

t.test('objects in objects have fields of their own, and lists an entry on each line', async t => {
  const mail = { type: 'object', properties: { to: { type: 'array', items: { type: 'string' } }, days: { type: 'array', items: { type: 'integer' } }, size: { enum: ['a b', 2] } }, required: ['to'] }
  const fields = fieldsOf({
    properties: { mail, tags: { type: 'array', items: { enum: ['new', 1] }, default: ['new'] }, 'mail.size': { type: 'string' }, rows: { type: 'array', items: mail } }, required: ['mail']
  }) ?? []
  t.same(fields.map(({ name, kind }) => [name, kind]), [['mail', 'group'], ['tags', 'list'], ['mail.size', 'text'], ['rows', 'json']])
  t.same(initialsOf(fields), { 'mail.to': '', 'mail.days': '', 'mail.size': '', tags: 'new', 'mail%2Esize': '', rows: '' })
  const texts = { 'mail.to': 'a@x\n\nb@x\n', 'mail.days': '1\n 2 ', 'mail.size': '"a b"', tags: 'new\n1', 'mail%2Esize': 'XL', rows: '[{}]' }
  t.same(argumentsOf(fields, texts), { mail: { to: ['a@x', 'b@x'], days: [1, 2], size: 'a b' }, tags: ['new', 1], 'mail.size': 'XL', rows: [{}] })
  t.same(argumentsOf(fields, {}), { mail: { to: [] } }, 'a required object is there, with what is required in it')
  t.equal(fieldAt(fields, '/mail/to/0'), 'mail.to')
  t.equal(fieldAt(fields, '/mail.size'), 'mail%2Esize')
  t.equal(fieldAt(fields, '/gone'), undefined)
  t.throws(() => argumentsOf(fields, { 'mail.days': 'one' }), /'mail.days' must be a number/)
  t.throws(() => argumentsOf(fields, { tags: 'old' }), /'tags' takes new, 1; 'old' is none of them/)
  const optional = fieldsOf({ properties: { mail } }) ?? []
  t.same(argumentsOf(optional, {}), {}, 'an object that may be left out is left out when nothing is entered')
  t.same(argumentsOf(optional, { 'mail.days': '3' }), { mail: { to: [], days: [3] } })
})

t.test('a schema that names no fields has no form, whatever it is', async t => {
  for (const schema of [true, null, [], 'x', { type: 'object' }, { properties: [] }]) t.equal(fieldsOf(schema), undefined)
  t.doesNotThrow(() => { fc.assert(fc.property(fc.jsonValue(), schema => { fieldsOf(schema) })) })
})

t.test('an address is read as it was written', async t => {
  // Those two lead nowhere, and are left out when an address is read.
  const path = fc.array(fc.string({ minLength: 1, unit: 'grapheme' }).filter(part => !['.', '..'].includes(part)))
  const query = fc.dictionary(fc.string({ minLength: 1 }), fc.string({ minLength: 1 }))
  const isKept = fc.property(path, query, (path, query) => {
    const route = readRoute(hrefOf(path, query))
    t.same(route.path, path)
    t.same(Object.fromEntries(route.query), { ...query })
  })
  t.doesNotThrow(() => { fc.assert(isKept, { numRuns: 50 }) })
  t.same(readRoute('#/jobs/%E0%A4%A').path, ['jobs', '%E0%A4%A'], 'what is no text stays as it is')
  t.same(readRoute('#/sessions/../jobs').path, ['sessions', 'jobs'], 'what leads nowhere is left out')
})

t.test('the curl line has the right arguments, also in a shell', async t => {
  const isMeant = fc.property(fc.jsonValue(), input => {
    const [curl] = snippetsOf({ tool: 'tool', input }, 'http://localhost:3001')
    const quoted = /-d (.*)$/s.exec(curl?.text ?? '')?.[1] ?? ''
    t.equal(execFileSync('sh', ['-c', `printf %s ${quoted}`], { encoding: 'utf8' }), JSON.stringify(input))
  })
  t.doesNotThrow(() => { fc.assert(isMeant, { numRuns: 10 }) })
})

t.test('no name of a tool is more than an argument to the shell that its line is pasted into', async t => {
  const isMeant = fc.property(fc.oneof(fc.string(), fc.constantFrom("it's", '$(id)', '--url=http://localhost', 'a;b')).filter(name => !name.includes('\0')), tool => {
    const text = snippetsOf({ tool, input: {} }, 'http://localhost:3001').find(({ name }) => name === 'toolyard')?.text ?? ''
    t.equal(execFileSync('sh', ['-c', `toolyard() { printf '%s\\0' "$@"; }\n${text}`], { encoding: 'utf8' }), `call\0${tool.startsWith('-') ? '--\0' : ''}${tool}\0{}\0`)
  })
  t.doesNotThrow(() => { fc.assert(isMeant, { numRuns: 30 }) })
})

t.test('no name of a tool ends the quotes of the line with curl', async t => {
  const [curl] = snippetsOf({ tool: "it's'(id)", input: {} }, 'http://localhost:3001')
  const said = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$2"; }\n${curl?.text ?? ''}`], { encoding: 'utf8' })
  t.equal(said, "http://localhost:3001/v1/tools/it's'(id)\n")
})

t.test('the lines that call a tool again name the session of the call', async t => {
  const session = '01a00000-0000-7000-8000-000000000000'
  const [curl, typescript] = snippetsOf({ tool: 'plot', input: {}, session }, 'http://localhost:3001')
  t.match(curl?.text, `/v1/tools/plot?session=${session}'`)
  t.match(typescript?.text, `call("plot", {}, { session: "${session}" })`)
})

t.test('times and sizes are written in short words', async t => {
  t.same([ago(0, 500), ago(0, 5_000), ago(0, 200_000), ago(7_200_000, 0)], ['now', '5 s ago', '3 min ago', 'in 2 h'])
  t.same([duration(12), duration(1_240), duration(61_000), duration(3_700_000)], ['12 ms', '1.2 s', '1 min 1 s', '1 h 1 min'])
  t.same([bytes(0), bytes(1_500), bytes(12_000_000)], ['0 B', '1.5 KB', '12 MB'])
})
