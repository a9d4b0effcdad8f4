import { LogController, type FastifyReply, type FastifyRequest } from 'fastify'

/** One line per request, at its end, with the route's pattern: a URL can hold a secret. */
export class RequestLog extends LogController {
  override incomingRequest (): void {}

  override requestCompleted (error: Error | null | undefined, request: FastifyRequest, reply: FastifyReply): void {
    const line = {
      method: request.method,
      route: request.routeOptions.url ?? '(none)',
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime * 10) / 10,
      key: request.principal?.name,
      ...(request.origin === null || request.origin.calls.length === 0 ? {} : { calls: request.origin.calls })
    }
    if (error === null || error === undefined) reply.log.info(line, 'request')
    else reply.log.warn({ ...line, err: error }, 'request failed while sending')
  }

  override routeNotFound (): void {}
}
