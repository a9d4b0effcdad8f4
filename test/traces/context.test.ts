import { readTraceContext, traceIdsOf } from '@toolyard/contract/terms'
import fc from 'fast-check'
import t from 'tap'

const hex = (length: number): fc.Arbitrary<string> => (
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length }).map(digits => digits.join(''))
)
const id = (length: number): fc.Arbitrary<string> => hex(length).filter(text => /[^0]/.test(text))

t.test('a well-formed traceparent is kept, and one of a later version is read like this one', async t => {
  await t.resolves(fc.assert(fc.asyncProperty(id(32), id(16), hex(2), async (traceId, spanId, flags) => {
    const traceparent = `00-${traceId}-${spanId}-${flags}`
    if (readTraceContext(traceparent)?.traceparent !== traceparent) throw new Error(traceparent)
    if (readTraceContext(`01-${traceparent.slice(3)}-what-comes`)?.traceparent !== traceparent) throw new Error('later version')
    if (JSON.stringify(traceIdsOf({ traceparent })) !== JSON.stringify({ traceId, spanId })) throw new Error('ids')
  })))
})

t.test('whatever is sent, a context is well-formed or absent', async t => {
  const near = fc.string({ unit: fc.constantFrom(...'0af-AFg \n\0,='), maxLength: 80 })
  await t.resolves(fc.assert(fc.asyncProperty(fc.oneof(near, fc.anything()), fc.oneof(near, fc.anything()), async (parent, state) => {
    const context = readTraceContext(parent, state)
    if (context === undefined) return
    if (!/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/.test(context.traceparent)) throw new Error(context.traceparent)
    if (context.tracestate !== undefined && !/^[\t\x20-\x7e]{1,512}$/.test(context.tracestate)) throw new Error(context.tracestate)
  })))
  const good = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
  for (const bad of [`${good}-more`, good.toUpperCase(), `ff${good.slice(2)}`, good.replace('b7ad6b7169203331', '0'.repeat(16)), `${good}, ${good}`, '']) {
    t.equal(readTraceContext(bad), undefined, bad)
  }
  t.strictSame(readTraceContext(good, 'a=b,c@d=e f'), { traceparent: good, tracestate: 'a=b,c@d=e f' })
  t.strictSame(readTraceContext(good, 'no member'), { traceparent: good })
})
