import type { DashboardLogins } from '@toolyard/queue'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRecord } from '@toolyard/contract'
import type { KeyRing } from '../access/key-ring.ts'
import type { App } from '../plugins/typed-app.ts'
import { loginForm, logoutForm, styleDigest } from './forms.ts'
import { setFormHeaders } from './headers.ts'
import { sessionCookie, type Sessions } from './session.ts'

/** Bytes of a form: a key and its name. */
const formBytes = 4_096

export interface LoginOptions {
  logins: DashboardLogins
  sessions: Sessions
  keys: KeyRing
  /** Where the browser sees the dashboard; ends in `/`. */
  base: string
}

/** Logging in with an API key, once, and logging out again. */
export async function loginRoutes (app: App, { logins, sessions, keys, base }: LoginOptions): Promise<void> {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: formBytes }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body.toString())))
  })

  app.get('/login', { config: { withoutLogin: true } }, async (_request, reply) => await sendForm(reply, 200, loginForm(base)))

  app.post('/login', { config: { withoutLogin: true }, bodyLimit: formBytes }, async (request, reply) => {
    const wait = await logins.admit(request.ip)
    if (wait > 0) {
      void reply.header('retry-after', String(wait))
      return await sendForm(reply, 429, loginForm(base, `Too many attempts. Try again in ${Math.ceil(wait / 60)} min.`))
    }
    const principal = await keys.find(keyOf(request))
    if (principal?.role !== 'admin' || principal.tenant !== undefined) {
      request.log.warn({ address: request.ip }, 'dashboard: login refused')
      const own = principal?.tenant === undefined ? 'may only read' : 'is of a tenant, and the dashboard shows the jobs of all'
      const problem = principal === undefined ? 'No such API key.' : `This API key ${own}.`
      return await sendForm(reply, principal === undefined ? 401 : 403, loginForm(base, problem))
    }
    await logins.succeeded(request.ip)
    const { text, sec } = await sessions.begin(principal)
    request.log.info({ key: principal.name }, 'dashboard: login')
    return await reply.header('set-cookie', cookie(request, text, sec, base)).redirect(base, 303)
  })

  app.get('/logout', { config: { page: true } }, async (request, reply) => await sendForm(reply, 200, logoutForm(base, request.principal?.name ?? '')))

  app.post('/logout', { config: { page: true } }, async (request, reply) => {
    if (request.dashboardSession !== null) await sessions.end(request.dashboardSession)
    request.log.info({ key: request.principal?.name }, 'dashboard: logout')
    return await reply.header('set-cookie', cookie(request, '', 0, base)).redirect(`${base}login`, 303)
  })
}

async function sendForm (reply: FastifyReply, status: number, html: string): Promise<FastifyReply> {
  setFormHeaders(reply, styleDigest)
  return await reply.code(status).type('text/html; charset=utf-8').send(html)
}

function keyOf (request: FastifyRequest): string {
  const key = isRecord(request.body) ? request.body['key'] : undefined
  return typeof key === 'string' ? key.trim() : ''
}

/** Sent to the dashboard alone, by no script and no other site, and over https only where it came over https. */
function cookie (request: FastifyRequest, text: string, sec: number, base: string): string {
  const secure = request.protocol === 'https' ? '; Secure' : ''
  return `${sessionCookie}=${text}; Path=${base.slice(0, -1)}; Max-Age=${sec}; HttpOnly; SameSite=Strict${secure}`
}
