import { dirname, resolve } from 'node:path'
import { Check } from 'typebox/schema'
import { settingNames } from '../openapi/import-openapi.ts'
import { OpenapiFault, readOpenapi } from '../openapi/document.ts'
import { operationDraft, operationsOf, type OperationDraft } from '../openapi/operation.ts'
import { FileFault, readFileBytes } from '../../document/manifest-file.ts'
import { OperationReference } from '../request/definition.ts'

/** An entry whose request is written out, and the file that it was read from. */
export interface DescribedEntry {
  entry: Record<string, unknown>
  file?: string
  /** Why there is no request; half a sentence. */
  fault?: string
  notes: readonly string[]
}

/** Puts the request of an OpenAPI document into the entry that names it. What the entry says itself counts. */
export async function describedEntry (entry: Record<string, unknown>, manifest: string): Promise<DescribedEntry> {
  const { http: reference } = entry
  if (!isReference(reference)) return { entry, notes: [] }
  const file = resolve(dirname(manifest), reference.openapi)
  try {
    const { description, schema, http, notes } = await operationOf(file, reference)
    return { entry: { description, ...(entry['parameters'] === undefined ? { schema } : {}), ...entry, http }, file, notes }
  } catch (error) {
    if (!(error instanceof OpenapiFault)) throw error
    return { entry, file, fault: error.message, notes: [] }
  }
}

function isReference (value: unknown): value is OperationReference {
  return Check(OperationReference, value)
}

async function operationOf (file: string, { operation, server, settings = {} }: OperationReference): Promise<OperationDraft> {
  const document = await readOpenapi(await textOf(file))
  const place = operationsOf(document).find(({ id, method, path }) => id === operation || `${method.toUpperCase()} ${path}` === operation)
  if (place === undefined) throw new OpenapiFault(`has no operation ${operation}`)
  const settingOf = settingNames(document.title)
  const options = { ...server !== undefined && { server }, settingOf: (scheme: string) => settings[scheme] ?? settingOf(scheme) }
  return operationDraft(document, place, options)
}

async function textOf (file: string): Promise<string> {
  const bytes = await readFileBytes(file).catch((error: unknown) => {
    throw new OpenapiFault(error instanceof FileFault ? error.message : 'is no file that can be read')
  })
  return bytes.toString()
}
