import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openConnections } from '@toolyard/runtime/connections'
import { createHostLookup, publicAddresses, type Lookup } from '@toolyard/runtime/outgoing'
import t, { type Test } from 'tap'

/**
 * A name server: `answers` has addresses by name; a name with `silent` gets no answer, one with `four` none for IPv6, one with `lost`
 * an address of IPv6 and none of IPv4 to the first question, one for which `fails` says so a failure (SERVFAIL), and any other isn't there.
 */
async function startNameServer (
  t: Test, answers: Record<string, string>, fails: (name: string, isFour: boolean) => boolean = () => false
): Promise<{ servers: string[], asked: string[] }> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    let at = 12
    const labels: string[] = []
    for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
      labels.push(question.toString('latin1', at + 1, at + 1 + length))
      at += length + 1
    }
    const name = labels.join('.')
    const isFour = question.readUInt16BE(at + 1) === 1
    asked.push(isFour ? name : `${name} IPv6`)
    if (name.includes('silent') || (name.includes('four') && !isFour)) return
    const isLost = name.includes('lost')
    if (isLost && isFour && asked.filter(each => each === name).length === 1) return
    const hasFailed = fails(name, isFour)
    const answer = (isFour && !hasFailed) || isLost ? answers[name] : undefined
    const head = Buffer.from(question.subarray(0, at + 5))
    head.writeUInt16BE(hasFailed ? 0x8182 : answers[name] === undefined ? 0x8183 : 0x8180, 2)
    head.writeUInt16BE(answer === undefined ? 0 : 1, 6)
    head.writeUInt32BE(0, 8)
    const bytes = isFour ? answer?.split('.').map(Number) ?? [] : [0x20, 1, 0x0d, 0xb8, ...Array.from({ length: 11 }, () => 0), 7]
    const record = answer === undefined ? [] : [0xc0, 12, 0, isFour ? 1 : 28, 0, 1, 0, 0, 0, 1, 0, bytes.length, ...bytes]
    socket.send(Buffer.concat([head, Buffer.from(record)]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => { socket.close() })
  return { servers: [`127.0.0.1:${socket.address().port}`], asked }
}

/** A server that answers does so at once. */
const patience = { timeout: 500, tries: 2 }

function find (lookup: Lookup, host: string): Promise<string[] | string> {
  return new Promise(resolve => {
    lookup(host, { all: true }, (error, addresses) => { resolve(error === null ? addresses.map(({ address }) => address) : error.code ?? '') })
  })
}

t.test('names whose servers keep silent hold up no other name, and end with EAI_AGAIN', async t => {
  const { servers, asked } = await startNameServer(t, { 'quick.example.test': '192.0.2.7' })
  const lookup = createHostLookup({ servers, resolverFile: '/dev/null', patience })
  let ended = 0
  const silent = Array.from({ length: 64 }, (_, at) => find(lookup, `s${at}.silent.test`).finally(() => { ended++ }))
  t.same(await find(lookup, 'quick.example.test'), ['192.0.2.7'])
  t.equal(ended, 0, 'before any of them has ended')
  t.same(new Set(await Promise.all(silent)), new Set(['EAI_AGAIN']))
  t.ok(asked.includes('s63.silent.test'))
  t.equal(await find(lookup, 'none.example.test'), 'ENOTFOUND')
})

t.test('a name is looked for in the domains of the system, in its order', async t => {
  const { servers, asked } = await startNameServer(t, { 'api.shop.svc.cluster.test': '192.0.2.8', 'api.shop': '192.0.2.9' })
  const resolverFile = join(t.testdir(), 'resolv.conf')
  writeFileSync(resolverFile, 'nameserver 192.0.2.1\nsearch other.test svc.cluster.test\noptions edns0 ndots:5\n')
  const lookup = createHostLookup({ servers, resolverFile })
  t.same(await find(lookup, 'api.shop'), ['192.0.2.8'])
  t.ok(asked.includes('api.shop.other.test'))
  t.same(await find(lookup, 'api.shop.'), ['192.0.2.9'], 'a dot at its end says that the name is whole')
  t.same(await find(createHostLookup({ servers, resolverFile: '/dev/null' }), 'api.shop'), ['192.0.2.9'])
})

t.test('a name server that fails is passed over for the next one, and a domain that nobody answers for hides no name', async t => {
  const failing = await startNameServer(t, {}, () => true)
  const { servers } = await startNameServer(t, { 'api.example.test': '192.0.2.7' }, (name, isFour) => name.endsWith('.corp.test') || !isFour)
  const resolverFile = join(t.testdir(), 'resolv.conf')
  writeFileSync(resolverFile, 'search corp.test silent.test\noptions ndots:5\n')
  const lookup = createHostLookup({ servers: [...failing.servers, ...servers], resolverFile, patience })
  t.same(await find(lookup, 'api.example.test.'), ['192.0.2.7'], 'as glibc does')
  t.same(await find(lookup, 'api.example.test'), ['192.0.2.7'])
  t.equal(await find(lookup, 'none.example.test'), 'EAI_AGAIN', 'it may be in the domain of which nothing is known')
  t.equal(await find(createHostLookup({ servers: failing.servers, resolverFile: '/dev/null' }), 'api.example.test'), 'EAI_AGAIN')
})

t.test('a server that never answers for IPv6 holds up no name that has addresses, or isn\'t there, for IPv4', async t => {
  const { servers } = await startNameServer(t, { 'four.example.test': '192.0.2.7' })
  const resolverFile = join(t.testdir(), 'resolv.conf')
  writeFileSync(resolverFile, 'search a.test\noptions ndots:5\n')
  const lookup = createHostLookup({ servers, resolverFile, patience: { timeout: 5_000, tries: 1 } })
  let hasEnded = false
  const silent = find(lookup, 'silent.test.').finally(() => { hasEnded = true })
  t.strictSame(await Promise.all([find(lookup, 'four.example.test'), find(lookup, 'four.none.test')]), [['192.0.2.7'], 'ENOTFOUND'])
  t.notOk(hasEnded)
  t.equal(await silent, 'EAI_AGAIN')
})

t.test('a question for IPv4 that is lost on its way is asked again, also where the answer for IPv6 is there: many machines reach IPv4 alone', async t => {
  const { servers } = await startNameServer(t, { 'lost.example.test': '192.0.2.7' })
  const lookup = createHostLookup({ servers, resolverFile: '/dev/null', patience: { timeout: 1_000, tries: 2 } })
  t.strictSame(await find(lookup, 'lost.example.test'), ['192.0.2.7', '2001:db8::7'])
})

t.test('names of the hosts file, without a dot, and of this machine are the system\'s', async t => {
  const { servers, asked } = await startNameServer(t, {})
  const hostsFile = join(t.testdir(), 'hosts')
  writeFileSync(hostsFile, '127.0.0.1 localhost\n192.0.2.3 x 127.0.0.5 # more.silent.test\n')
  const lookup = createHostLookup({ servers, hostsFile, resolverFile: '/dev/null', patience })
  t.match(await find(lookup, 'localhost'), ['127.0.0.1'])
  t.same(await find(lookup, '127.0.0.5'), ['127.0.0.5'])
  t.same(asked, [])
  await find(lookup, 'more.silent.test')
  t.not(asked.length, 0, 'a comment names nothing')
})

t.test('addresses inside are refused as before', async t => {
  const { servers } = await startNameServer(t, { 'inside.example.test': '10.0.0.1', 'outside.example.test': '1.1.1.1' })
  const lookup = createHostLookup({ servers, resolverFile: '/dev/null' })
  await t.rejects(publicAddresses('inside.example.test', lookup), { name: 'AddressRefusedError' })
  t.same(await publicAddresses('outside.example.test', lookup), ['1.1.1.1'])
  const connections = openConnections({ allowPrivate: false, lookup })
  t.teardown(() => connections.close())
  await t.rejects(connections.dispatcher.request({ origin: 'http://inside.example.test', path: '/', method: 'GET' }), { name: 'AddressRefusedError' })
})
