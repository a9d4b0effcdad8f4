import { ArchiveResponse, FileList, limits } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import type { RouteDescription } from './route-description.ts'

const listQuery = {
  limit: Type.Optional(Type.Integer({ minimum: limits.filePage.min, maximum: limits.filePage.max, default: limits.filePage.default, description: 'Entries of a listing.' })),
  cursor: Type.Optional(Type.String({ description: 'The `next_cursor` of the listing before.' }))
}
const archiveQuery = { archive: Type.Optional(Type.Literal('tar', { description: 'All that is in the directory, as an archive.' })) }
const list = {
  ok: true,
  path: 'out',
  entries: [{ name: 'chart.png', path: 'out/chart.png', type: 'file', size: 14_201, modified_at: '2026-11-24T09:30:00.000Z' }],
  count: 1,
  next_cursor: null
}
const archive = { ok: true, archive: { path: 'in', files: 3, directories: 1, bytes: 14_205 } }
const tarFile = { 'application/x-tar': { schema: Type.String({ contentMediaType: 'application/x-tar' }) } }
const anyFile = { '*/*': { schema: Type.String({ contentMediaType: 'application/octet-stream' }) } }

export const fileDescriptions: Readonly<Record<string, RouteDescription>> = {
  ...describe('/v1/files', {
    id: 'files', tag: 'files', of: 'the shared workspace', who: 'For keys without a tenant. A key that is bound to permissions needs', errors: []
  }),
  ...describe('/v1/sessions/:id/files', {
    id: 'session-files', tag: 'sessions', of: 'a session', who: "For keys of the session's tenant. A key that is bound to permissions needs", errors: [404, 409]
  })
}

interface Files extends Pick<RouteDescription, 'tag'> {
  id: string
  of: string
  who: string
  /** Statuses that all of them can have. */
  errors: readonly number[]
}

function describe (path: string, { id, tag, of, who, errors }: Files): Record<string, RouteDescription> {
  return {
    [`GET ${path}`]: {
      id: `${id}.list`,
      tag,
      summary: `List the files of ${of}`,
      description: `${who} \`read_repo\`.`,
      errors: [400, 404, ...errors],
      query: Type.Object({ ...archiveQuery, ...listQuery }),
      answers: { 200: { description: 'What is in it, by name; or an archive of all of it.', content: { 'application/json': { schema: FileList, example: list }, ...tarFile } } }
    },
    [`PUT ${path}`]: {
      id: `${id}.unpack`,
      tag,
      summary: `Unpack an archive into ${of}`,
      description: `${who} \`write_files\`. With \`?archive=tar\`; \`PUT ${path}/DIRECTORY?archive=tar\` unpacks into a directory below. What came before a fault stays.`,
      errors: [400, 409, 413, 507, ...errors],
      query: Type.Object({ archive: Type.Literal('tar', { description: 'The body is an archive.' }) }),
      file: 'application/x-tar',
      answers: { 200: { description: 'It was unpacked.', content: { 'application/json': { schema: ArchiveResponse, example: archive } } } }
    },
    [`GET ${path}/*`]: {
      id: `${id}.read`,
      tag,
      summary: `Read a file of ${of}, or list a directory`,
      description: `${who} \`read_repo\`. \`HEAD\` tells the same without the content.`,
      errors: [400, 404, 409, 412, 416],
      query: Type.Object({ list: Type.Optional(Type.Boolean({ description: 'Of a directory alone.' })), ...archiveQuery, ...listQuery }),
      headers: ['Range', 'If-Range', 'If-Match', 'If-None-Match'],
      answers: {
        200: { description: 'The file, with its media type by its name; of a directory the listing, or an archive.', headers: ['ETag'], content: { ...anyFile, 'application/json': { schema: FileList, example: list } } },
        206: { description: 'The part of the file that was asked for.', headers: ['ETag', 'Content-Range'], content: anyFile },
        304: { description: 'It is still the file that the caller has.', headers: ['ETag'], empty: true }
      }
    },
    [`PUT ${path}/*`]: {
      id: `${id}.put`,
      tag,
      summary: `Put a file into ${of}`,
      description: `${who} \`write_files\`. The body is the file, whatever its type. Missing directories are made. Readers see the old file or the whole new one; an upload that breaks off changes nothing.`,
      errors: [400, 409, 412, 413, 507, ...errors],
      query: Type.Object({ archive: Type.Optional(Type.Literal('tar', { description: 'The body is an archive, and the path the directory that it is unpacked to.' })) }),
      headers: ['If-Match', 'If-None-Match'],
      file: 'application/octet-stream',
      answers: {
        200: { description: 'The file was replaced, or the archive unpacked.', headers: ['ETag'], example: putExample() },
        201: { description: 'The file was made.', headers: ['ETag'], example: putExample() }
      }
    },
    [`DELETE ${path}/*`]: {
      id: `${id}.remove`,
      tag,
      summary: `Remove a file or a directory of ${of}`,
      description: `${who} \`write_files\`. A link is removed itself, never what it leads to.`,
      errors: [400, 404, 409, 412],
      query: Type.Object({ recursive: Type.Optional(Type.Boolean({ description: 'Of a directory that is not empty: remove all that is in it.' })) }),
      headers: ['If-Match'],
      answers: { 204: { description: 'It is gone.', empty: true } }
    }
  }
}

function putExample (): object {
  const sha256 = 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c'
  return { ok: true, file: { path: 'in/data.csv', size: 4, type: 'text/csv; charset=utf-8', sha256, etag: '"3a1-4-1zq0w3-1zq0w3"' } }
}
