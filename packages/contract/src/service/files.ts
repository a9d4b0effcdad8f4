import { invalid } from '../terms/errors.ts'
import type { Static } from 'typebox'
import { Type } from '../value/type.ts'
import { limits } from '../terms/limits.ts'
import { unknownParameter } from '../value/fields.ts'

export const FileResponse = Type.Object({
  ok: Type.Literal(true),
  file: Type.Object({
    path: Type.String(),
    size: Type.Integer({ description: 'In bytes.' }),
    type: Type.String({ description: 'Its media type, by its name.' }),
    sha256: Type.String(),
    etag: Type.String()
  })
})

export const ArchiveResponse = Type.Object({
  ok: Type.Literal(true),
  archive: Type.Object({
    path: Type.String({ description: 'The directory that it was unpacked to.' }),
    files: Type.Integer(),
    directories: Type.Integer({ description: 'Those that the archive names.' }),
    bytes: Type.Integer({ description: 'Of the files.' })
  })
})

/** Entries by name. */
export const FileList = Type.Object({
  ok: Type.Literal(true),
  path: Type.String({ description: 'The directory, from the workspace; `.` for the workspace itself.' }),
  entries: Type.Array(Type.Object({
    name: Type.String(),
    path: Type.String(),
    type: Type.Enum(['file', 'directory', 'link', 'other']),
    size: Type.Integer({ description: 'In bytes.' }),
    modified_at: Type.String()
  })),
  count: Type.Integer(),
  next_cursor: Type.Union([Type.String(), Type.Null()])
})
export type FileList = Static<typeof FileList>

export interface FileQuery {
  /** All of a directory, as an archive. */
  archive: boolean
  /** The directory's entries are asked for, and nothing else. */
  list: boolean
  recursive: boolean
  limit: number
  /** The last name of the page before. */
  cursor: string | undefined
}

const known: Readonly<Record<string, readonly string[]>> = {
  GET: ['archive', 'list', 'limit', 'cursor'], HEAD: ['archive', 'list', 'limit', 'cursor'], PUT: ['archive'], DELETE: ['recursive']
}
const switches: ReadonlyMap<unknown, boolean> = new Map([['', true], ['true', true], ['1', true], ['false', false], ['0', false]])

/**
 * Reads the query string of a request for files, which has each parameter at most once.
 *
 * @throws HttpError `VALIDATION_ERROR` for anything that isn't as documented.
 */
export function parseFileQuery (method: string, query: Readonly<Record<string, unknown>>): FileQuery {
  const unknown = unknownParameter(query, known[method] ?? [])
  if (unknown !== undefined) throw invalid(unknown)
  const { list = 'false', recursive = 'false', limit = String(limits.filePage.default), cursor, archive } = query
  const size = typeof limit === 'string' && /^\d{1,4}$/.test(limit) ? Number(limit) : 0
  if (size < limits.filePage.min || size > limits.filePage.max) throw invalid(`'limit' must be an integer ${limits.filePage.min}..${limits.filePage.max}`)
  if (cursor !== undefined && typeof cursor !== 'string') throw invalid("'cursor' must be a name")
  if (archive !== undefined && archive !== 'tar') throw invalid("'archive' must be tar")
  return { archive: archive === 'tar', list: readSwitch('list', list), recursive: readSwitch('recursive', recursive), limit: size, cursor }
}

function readSwitch (name: string, value: unknown): boolean {
  const on = switches.get(value)
  if (on === undefined) throw invalid(`'${name}' must be true or false`)
  return on
}
