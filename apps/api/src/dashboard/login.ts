import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRecord } from '@toolyard/contract'
import type { Logins } from '../access/logins.ts'
import type { App } from '../plugins/typed-app.ts'
import { loginForm, logoutForm, styleDigest } from './forms.ts'
import { setFormHeaders } from './headers.ts'

/** Bytes of a form: a key and its name. */
const formBytes = 4_096

export interface LoginOptions {
  logins: Logins
  /** Where the browser sees the dashboard; ends in `/`. */
  base: string
}

/** Logging in with an API key, once, and logging out again. */
export async function loginRoutes (app: App, { logins, base }: LoginOptions): Promise<void> {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string', bodyLimit: formBytes }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body.toString())))
  })

  app.get('/login', { config: { withoutLogin: true } }, async (_request, reply) => await sendForm(reply, 200, loginForm(base)))

  app.post('/login', { config: { withoutLogin: true }, bodyLimit: formBytes }, async (request, reply) => {
    const { waitSec, principal } = await logins.attempt(request, keyOf(request))
    if (waitSec > 0) {
      void reply.header('retry-after', String(waitSec))
      return await sendForm(reply, 429, loginForm(base, `Too many attempts. Try again in ${Math.ceil(waitSec / 60)} min.`))
    }
    if (principal?.role !== 'admin' || principal.tenant !== undefined) {
      request.log.warn({ address: request.ip }, 'dashboard: login refused')
      const own = principal?.tenant === undefined ? 'may only read' : 'is of a tenant, and the dashboard shows the jobs of all'
      const problem = principal === undefined ? 'No such API key.' : `This API key ${own}.`
      return await sendForm(reply, principal === undefined ? 401 : 403, loginForm(base, problem))
    }
    const cookie = await logins.begin(request, principal)
    request.log.info({ key: principal.name }, 'dashboard: login')
    return await reply.header('set-cookie', cookie).redirect(base, 303)
  })

  app.get('/logout', { config: { page: true } }, async (request, reply) => await sendForm(reply, 200, logoutForm(base, request.principal?.name ?? '')))

  app.post('/logout', { config: { page: true } }, async (request, reply) => {
    const cookie = await logins.end(request, request.login)
    request.log.info({ key: request.principal?.name }, 'dashboard: logout')
    return await reply.header('set-cookie', cookie).redirect(`${base}login`, 303)
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
