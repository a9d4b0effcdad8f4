import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { openApiService } from '../http/openapi-service.ts'
import type { OpenApiDocument } from '../support/openapi.ts'

const { read } = await openApiService(t)

async function findsNothingWrong (t: Test, document: OpenApiDocument): Promise<void> {
  const { valid, errors } = await new Validator().validate({ ...document })
  t.ok(valid, JSON.stringify(errors))
  // The service of a test is at localhost, and its health needs nothing of the caller.
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: { 'no-server-example.com': 'off', 'operation-4xx-response': 'off' }
  })
  const problems = await lintFromString({ source: JSON.stringify(document), config })
  t.same(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]), [])
}

t.test('a validator and a linter of OpenAPI find nothing wrong with the document', async t => {
  for (const path of ['/openapi.json', '/openapi.json?tools=only']) await findsNothingWrong(t, await read(path))
  await findsNothingWrong(t, await read('/openapi.json', { key: null }))
})

t.test('every example of the document fits its schema', async t => {
  const document = await read()
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false }).addSchema({ ...document, $id: 'document:' })
  let checked = 0
  const visit = (value: unknown, pointer: string): void => {
    if (typeof value !== 'object' || value === null) return
    if ('example' in value && 'schema' in value) {
      checked++
      t.ok(ajv.validate({ $ref: `document:#${pointer}/schema` }, value.example), `${pointer}: ${ajv.errorsText()}`)
    }
    for (const [name, each] of Object.entries(value)) {
      visit(
        each,
      `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`
      )
    }
  }
  visit(document, '')
  t.ok(checked > 40)
})
