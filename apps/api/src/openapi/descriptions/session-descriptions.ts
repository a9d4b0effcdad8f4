import { limits } from '@toolyard/contract'
import { Type } from '@toolyard/contract/type'
import { examples } from './examples.ts'
import type { RouteDescription } from './route-description.ts'

export const sessionDescriptions: Readonly<Record<string, RouteDescription>> = {
  'POST /v1/sessions': {
    id: 'sessions.make',
    tag: 'sessions',
    summary: 'Make a session',
    description: 'A workspace of its own for the calls that name it. Its directory is made when it is first used.',
    errors: [400, 409, 413, 415],
    body: { ttl_sec: 3_600, quota_bytes: 104_857_600 },
    answers: { 201: { description: 'The session.', example: { ok: true, session: examples.session } } }
  },
  'GET /v1/sessions': {
    id: 'sessions.list',
    tag: 'sessions',
    summary: 'List sessions, the newest first',
    errors: [400],
    query: Type.Object({
      tenant: Type.Optional(Type.String({ description: 'Sessions of this tenant alone.' })),
      limit: Type.Optional(Type.Integer({ minimum: limits.jobPage.min, maximum: limits.jobPage.max, default: limits.jobPage.default })),
      cursor: Type.Optional(Type.String({ minLength: 1, description: 'The `next_cursor` of the answer to the same query.' }))
    }),
    answers: {
      200: {
        description: 'The sessions; `next_cursor` is null on the last page.',
        example: { ok: true, sessions: [examples.session], count: 1, next_cursor: null }
      }
    }
  },
  'GET /v1/sessions/:id': {
    id: 'sessions.read',
    tag: 'sessions',
    summary: 'Read a session',
    errors: [404],
    answers: { 200: { description: 'The session.', example: { ok: true, session: examples.session } } }
  },
  'DELETE /v1/sessions/:id': {
    id: 'sessions.remove',
    tag: 'sessions',
    summary: 'Remove a session and its files',
    description: 'It takes no calls from now on, and its running calls are ended. Its files are removed soon after.',
    errors: [404],
    answers: { 202: { description: 'It is being removed.', example: { ok: true, session: { ...examples.session, state: 'removing' } } } }
  }
}
