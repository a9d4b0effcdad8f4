import { rulesOf } from '../../schema/policy/definition.ts'
import { policyRemarks } from '../../schema/policy/read-policy.ts'
import { isRecord, limits } from '@toolyard/contract/terms'
import { unknownFields } from '../../document/unknown-fields.ts'
import type { DocumentPath } from '../../finding/finding.ts'
import type { Remark } from '../../finding/finding-list.ts'
import { goQuote } from '../../finding/go-quote.ts'
import type { KindPlace, KindReading } from '../../layer/entry-kind.ts'
import { limitsOf } from '../../program/limit-fields.ts'
import { defaultFaults } from '../../schema/defaults.ts'
import { commonForm } from '../../schema/form/common-form.ts'
import { jobTypeOf } from '../../tool/job-type.ts'
import type { HttpRun, JsonSchema, Tool } from '../../tool/tool.ts'
import { wrongFields, withoutNulls } from '../../layer/kind-fields.ts'
import { HttpEntry, referenceEntry, requestEntry } from '../request/definition.ts'
import { describedEntry, type DescribedEntry } from './described.ts'
import { readRequest } from '../request/request.ts'

const aliases = {
  timeout: 'timeoutSec',
  inputSchema: 'schema',
  url: 'url into http',
  method: 'method into http',
  headers: 'headers into http',
  query: 'query into http',
  body: 'body into http',
  envPassthrough: '{"setting": NAME} where the value goes',
  sandbox: 'nothing: a request starts no process'
}
/** Remarks of one sort that are made of an entry. */
const most = 20
/** Those that change nothing when they are sent twice (RFC 9110). */
const idempotentMethods: readonly string[] = ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']
const none: JsonSchema = { type: 'object', properties: {} }

export async function readHttpEntry (written: Record<string, unknown>, { file, index, names, schemas }: KindPlace): Promise<KindReading> {
  const described = await describedEntry(withoutNulls(written, 'http'), file)
  const { entry } = described
  const files = described.file === undefined ? [] : [described.file]
  const path: DocumentPath = ['tools', index]
  const name = typeof entry['name'] === 'string' ? entry['name'] : ''
  const own = { index, ...name !== '' && { tool: name } }
  const about = (remark: Remark): Remark => ({ ...remark, ...own, message: `tool[${index}] ${goQuote(name)}: ${remark.message}` })
  const ignored = unknownFields(entry, { path, definition: HttpEntry, all: true, aliases })
    .map((fault): Remark => ({ severity: 'warning', ...fault, ...own }))
  const form = isRecord(entry['http']) && 'openapi' in entry['http'] ? referenceEntry : requestEntry
  const faults = wrongFields(form, entry, { path, rule: 'http/request', page: 'docs/http-entries.md' })
  if (described.fault !== undefined) faults.push(openapiFault(described, path))
  if (!isEntry(entry, faults) || 'openapi' in entry.http) {
    return { entries: [], findings: [...ignored, ...faults.map(about)], files }
  }
  if (names.has(name)) faults.push(fault([...path, 'name'], 'another entry of this manifest has this name', 'Rename one of the two.'))
  names.add(name)

  const parameters = commonForm(entry.schema ?? entry.parameters ?? none)
  for (const { message, fix } of await schemas.check(parameters)) {
    faults.push({ severity: 'error', rule: 'A6', path: [...path, 'schema'], message: `schema ${message}`, fix })
  }
  const rules = rulesOf(entry)
  faults.push(...await policyRemarks(rules, parameters, path))
  const { run, findings } = readRequest(entry.http, [...path, 'http'])
  const remarks = [
    ...faults,
    ...findings,
    ...described.notes.map(says => openapiNote(says, path)),
    ...run === undefined ? [] : unnamedArguments(run, parameters, path),
    ...otherPermissions(entry, path),
    ...defaultFaults(parameters).map(({ message, fix }): Remark => ({ severity: 'warning', rule: 'A6', path: [...path, 'schema'], message: `schema: ${message}`, fix }))
  ].map(about)
  if (run === undefined || faults.length > 0) return { entries: [], findings: [...ignored, ...remarks], files }
  const tool = { ...toolOf(entry, { parameters, run, source: { format: 'agentcli', file, index } }), ...rules.length > 0 && { policy: rules } }
  return { entries: [{ kind: 'tool', tool, override: entry.override ?? false }], findings: [...ignored, ...remarks], files }
}

function toolOf (entry: HttpEntry, { parameters, run, source }: Pick<Tool, 'parameters' | 'source'> & { run: HttpRun }): Tool {
  const timeoutSec = Math.min(entry.timeoutSec ?? 0, limits.toolTimeoutSec.max)
  return {
    name: entry.name,
    description: entry.description ?? '',
    parameters,
    jobType: jobTypeOf('agentcli', entry.name),
    ...timeoutSec > 0 && { timeoutSec },
    enabled: entry.disabled !== true && entry.enabled !== false,
    idempotent: entry.idempotent ?? idempotentMethods.includes(run.method),
    // Whatever the entry says: a request can't do without, and needs nothing else.
    permissions: ['network'],
    ...entry.limits !== undefined && { limits: limitsOf(entry.limits) },
    source,
    run
  }
}

/** Arguments that the request sends and the schema doesn't have: a model would never give them. */
function unnamedArguments (run: HttpRun, schema: JsonSchema, path: DocumentPath): Remark[] {
  const sent = [...run.path, ...run.query, ...run.headers.flatMap(header => 'parts' in header ? header.parts : []), run.body]
    .flatMap(part => typeof part === 'object' && 'argument' in part && part.argument !== undefined ? [part.argument] : [])
  const known = isRecord(schema['properties']) ? schema['properties'] : {}
  return [...new Set(sent)].filter(argument => !Object.hasOwn(known, argument)).slice(0, most).map(argument => ({
    severity: 'warning',
    rule: 'http/request',
    path: [...path, 'http'],
    message: `http sends the argument ${goQuote(argument)}, which is no property of schema`,
    fix: 'Add it to "properties" of schema, or correct the name.'
  }))
}

function otherPermissions ({ permissions = [] }: HttpEntry, path: DocumentPath): Remark[] {
  return permissions.filter(permission => permission !== 'network').slice(0, most).map(permission => ({
    severity: 'warning',
    rule: 'P18',
    path: [...path, 'permissions'],
    message: `${goQuote(permission)} is nothing that a request uses, and is ignored`,
    fix: 'Leave permissions out: an HTTP tool holds network.'
  }))
}

function openapiFault ({ file = '', fault: says = '' }: DescribedEntry, path: DocumentPath): Remark {
  const fix = 'Correct the path, the operation or the document; docs/http-entries.md says what is read.'
  return { severity: 'error', rule: 'http/openapi', path: [...path, 'http'], message: `${file} ${says}`, fix }
}

function openapiNote (says: string, path: DocumentPath): Remark {
  const fix = 'Write the request out, where this matters.'
  return { severity: 'warning', rule: 'http/openapi', path: [...path, 'http'], message: `http.operation: ${says}`, fix }
}

/** `wrongFields` has looked at it. */
function isEntry (entry: Record<string, unknown>, faults: readonly Remark[]): entry is HttpEntry & Record<string, unknown> {
  return faults.length === 0
}

function fault (path: DocumentPath, message: string, fix: string): Remark {
  return { severity: 'error', rule: 'http/request', path, message, fix }
}
