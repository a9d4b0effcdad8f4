import { checkLogin, ErrorBody, HttpError, LoginRequest, LoginResponse, LogoutResponse } from '@toolyard/contract'
import type { Logins } from '../../access/logins.ts'
import { unauthorizedText } from '../../access/request-key.ts'
import { bodyChecked } from '../../plugins/body/body-check.ts'
import { refuseForeignOrigin } from '../../plugins/foreign-site.ts'
import type { App } from '../../plugins/typed-app.ts'

/** Logging in to the console with any API key, and out again. What a login may do is what its key may do. */
export async function loginRoutes (app: App, logins: Logins, authDisabled: boolean): Promise<void> {
  app.post('/auth/login', {
    config: { keyOptional: true },
    schema: { body: LoginRequest, response: { 200: LoginResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    validatorCompiler: bodyChecked(checkLogin)
  }, async (request, reply) => {
    // Nobody is logged in by a page of another site, with a key of its own.
    refuseForeignOrigin(request)
    if (authDisabled) throw new HttpError('CONFLICT', 'Authentication is disabled: nobody needs to log in.')
    const { waitSec, principal } = await logins.attempt(request, request.body.key.trim())
    if (waitSec > 0) {
      void reply.header('retry-after', String(waitSec))
      throw new HttpError('RATE_LIMITED', `Too many attempts to log in. Try again in ${Math.ceil(waitSec / 60)} min.`)
    }
    if (principal === undefined) {
      request.log.warn({ address: request.ip }, 'console: login refused')
      throw new HttpError('UNAUTHORIZED', unauthorizedText(request.body.key))
    }
    request.log.info({ key: principal.name }, 'console: login')
    void reply.header('set-cookie', await logins.begin(request, principal))
    return { ok: true as const, name: principal.name }
  })

  app.post('/auth/logout', {
    config: { role: 'read' }, schema: { response: { 200: LogoutResponse, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async (request, reply) => {
    void reply.header('set-cookie', await logins.end(request, request.login))
    request.log.info({ key: request.principal?.name }, 'console: logout')
    return { ok: true as const }
  })
}
