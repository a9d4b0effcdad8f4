import t from 'tap'
import { importOpenapi } from '@toolyard/manifests'
import { processorMs } from '../support/processor-time.ts'

t.test('names of a document are made in linear time, however long they are', async t => {
  const long = (letter: string): string => `a${letter.repeat(100_000)}b`
  const before = processorMs()
  const found = await importOpenapi(JSON.stringify({
    openapi: '3.1.0', info: { title: long('_') }, servers: [{ url: `https://a.example/${long('/')}` }], paths: { '/a': { get: { operationId: long('_') } } }
  }))
  t.equal(found.entries[0]?.name, 'a')
  t.ok(processorMs() - before < 2_000)
})
