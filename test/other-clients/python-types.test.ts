import { ApprovalDetail, ApprovalItem, ArchiveResponse, CallErrorBody, CallResult, FileList, FileResponse, JobList, JobSummary, JobView, LogEntry, SecretList, SecretView, SessionList, SessionView } from '@toolyard/contract'
import t from 'tap'
import type { TSchema } from 'typebox'
import { runPython, withoutPython } from './python.ts'

/** Kinds of JSON that a field may be, or the values of an enumeration. */
interface Field { required: boolean, shape: unknown[] }

interface Schema {
  type?: string
  enum?: unknown[]
  const?: unknown
  anyOf?: Schema[]
  allOf?: Schema[]
  properties?: Record<string, Schema>
  required?: string[]
}

const schemas: Record<string, TSchema> = {
  ApprovalDetail,
  ApprovalItem,
  CallErrorBody,
  CallResult,
  FileList,
  JobList,
  JobSummary,
  JobView,
  LogEntry,
  SecretList,
  SecretView,
  SessionList,
  SessionView
}

t.test('the types of the Python client agree with the contract', { skip: withoutPython }, async t => {
  const types = JSON.parse(await runPython('client_types.py')) as Record<string, Record<string, Field>>
  for (const [name, schema] of Object.entries(schemas)) t.strictSame(types[name], fieldsOf(schema), name)
  t.strictSame(types['PutFile'], fieldsOf(FileResponse.properties.file), 'PutFile')
  t.strictSame(types['Unpacked'], fieldsOf(ArchiveResponse.properties.archive), 'Unpacked')
  t.strictSame(types['FileEntry'], fieldsOf(FileList.properties.entries.items), 'FileEntry')
  const { result_truncated: cut, sandbox, error } = (JobView as Schema).properties ?? {}
  t.strictSame(types['ResultCut'], fieldsOf(cut), 'ResultCut')
  t.strictSame(types['SandboxView'], fieldsOf(sandbox?.anyOf?.[0]), 'SandboxView')
  t.strictSame(types['JobErrorBody'], fieldsOf(error?.anyOf?.[0]), 'JobErrorBody')
})

function fieldsOf (schema: unknown): Record<string, Field> {
  const { allOf, properties = {}, required = [] } = schema as Schema
  if (allOf !== undefined) return Object.assign({}, ...allOf.map(fieldsOf)) as Record<string, Field>
  return Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, { required: required.includes(name), shape: shapeOf(field) }])
  )
}

function shapeOf (schema: Schema): unknown[] {
  const { type, enum: values, const: value, anyOf, allOf } = schema
  const shape = anyOf?.flatMap(shapeOf) ?? values ?? (allOf === undefined ? undefined : ['object']) ?? (value === undefined ? [type ?? 'any'] : [value])
  return shape.toSorted((a, b) => String(a) < String(b) ? -1 : 1)
}
