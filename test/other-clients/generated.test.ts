import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript'
import t from 'tap'
import ts from 'typescript'
import { repoRoot } from '../repo/source-tree.ts'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

/** Code of somebody who has generated the types: `call` is run by the test, the rest must be refused by the compiler. */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './document.ts'

export async function call (baseUrl: string, key: string) {
  const client = createClient<paths>({ baseUrl, headers: { 'x-api-key': key } })
  const sum = await client.POST('/v1/tools/sum', { body: { numbers: [{ value: 1 }, { value: 2 }] }, params: { query: { wait_ms: 30000 } } })
  const failed = await client.POST('/v1/tools/sum', { body: { numbers: [] } })
  const code: string | undefined = failed.error?.error.code
  const { data } = await client.GET('/v1/jobs/{id}', { params: { path: { id: sum.response.headers.get('x-toolyard-job-id') ?? '' } } })
  const job: components['schemas']['JobView'] | undefined = data?.job
  const status: 'queued' | 'held' | 'running' | 'input_required' | 'succeeded' | 'failed' | 'cancelled' | undefined = job?.status
  return { sum: sum.data, code, status }
}

export function wrong () {
  const client = createClient<paths>({})
  return [
    // @ts-expect-error an argument of another type
    () => client.POST('/v1/tools/sum', { body: { numbers: ['1'] } }),
    // @ts-expect-error an argument that is needed
    () => client.POST('/v1/tools/sum', { body: {} }),
    // @ts-expect-error no such tool
    () => client.POST('/v1/tools/product', { body: { numbers: [] } }),
    // @ts-expect-error no such parameter
    () => client.POST('/v1/tools/sum', { body: { numbers: [] }, params: { query: { wait: 1 } } })
  ]
}
`
const sum = `#!/usr/bin/env node
const { numbers } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'))
console.log(numbers.reduce((sum, { value }) => sum + value, 0))
`
const schema = {
  type: 'object',
  properties: { numbers: { type: 'array', items: { $ref: '#/definitions/number' }, minItems: 1 } },
  required: ['numbers'],
  definitions: { number: { type: 'object', properties: { value: { type: 'number' } }, required: ['value'] } }
}

t.test('a client that openapi-typescript generates of the document compiles, and calls a tool', async t => {
  const { app, client } = await injectService(t, {
    files: { 'tools/bin/sum': sum },
    tools: [{ name: 'sum', description: 'Adds numbers', schema, command: ['./tools/bin/sum'] }]
  })
  const { body } = await client.request<OpenAPI3>('/openapi.json')
  // Where the compiler finds openapi-fetch.
  const dir = await mkdtemp(join(repoRoot, 'test/build/generated-'))
  t.teardown(() => rm(dir, { recursive: true }))
  await writeFile(join(dir, 'document.ts'), astToString(await openapiTS(body)))
  await writeFile(join(dir, 'program.ts'), program)
  t.same(compile(join(dir, 'program.ts')), [])

  const address = await app.listen({ port: 0, host: '127.0.0.1' })
  const { call } = await import(pathToFileURL(join(dir, 'program.js')).href) as { call: (address: string, key: string) => Promise<unknown> }
  t.same(await call(address, testKeys.admin), { sum: 3, code: 'INVALID_ARGUMENTS', status: 'succeeded' })
})

/** Compiles as strictly as TypeScript can; what it complains of. */
function compile (file: string): string[] {
  const compiled = ts.createProgram([file], {
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noImplicitOverride: true,
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    types: ['node']
  })
  const { diagnostics } = compiled.emit()
  return [...ts.getPreEmitDiagnostics(compiled), ...diagnostics].map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}
