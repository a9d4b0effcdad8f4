import type { FastifySchemaCompiler } from 'fastify'

/** Only the body is checked, by the contract's own check, which has the documented texts and names the first field. */
export function bodyChecked (check: (body: unknown) => Error | undefined): FastifySchemaCompiler<unknown> {
  return ({ httpPart }) => (value: unknown) => {
    const error = httpPart === 'body' ? check(value) : undefined
    return error === undefined ? { value } : { error }
  }
}
