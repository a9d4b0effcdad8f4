import { asError, ErrorBody, readSseTokenRequest, SseTokenRequest, SseTokenResponse } from '@toolyard/contract'
import type { App } from '../../plugins/typed-app.ts'
import { principalOf, requireSse } from '../../access/principal.ts'
import type { StreamTicketIssuer } from '../../access/stream-ticket-issuer.ts'

/** Tickets for browsers, which can't send a key with an event stream. */
export async function sseTokenRoutes (app: App, { ticketIssuer }: { ticketIssuer: StreamTicketIssuer }): Promise<void> {
  app.post('/auth/sse-token', {
    config: { role: 'read', bodyOptional: true },
    schema: { body: SseTokenRequest, response: { 200: SseTokenResponse, '4xx': ErrorBody, '5xx': ErrorBody } },
    // The contract's own check has the documented texts, and a body may be left out.
    validatorCompiler: () => (body: unknown) => {
      try {
        return { value: { job_id: readSseTokenRequest(body) } }
      } catch (error) {
        return { error: asError(error) }
      }
    }
  }, async request => {
    const principal = principalOf(request)
    requireSse(principal)
    return await ticketIssuer.issue(principal, request.body.job_id ?? null)
  })
}
