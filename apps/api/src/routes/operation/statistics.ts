import { ErrorBody, HttpError, isRecord, parseStatisticsQuery, Statistics } from '@toolyard/contract'
import type { CallStatistics } from '@toolyard/queue'
import { principalOf, scopeOf } from '../../access/principal.ts'
import type { App } from '../../plugins/typed-app.ts'

/** What calls did over the last minutes or hours. A key of a tenant sees its tenant's, one that is bound to queues what is of these. */
export async function statisticsRoutes (app: App, { statistics }: { statistics: CallStatistics }): Promise<void> {
  app.get('/stats', {
    config: { makesWork: true, checksQuery: true },
    schema: { response: { 200: Statistics, '4xx': ErrorBody, '5xx': ErrorBody } }
  }, async request => {
    const query = parseStatisticsQuery(isRecord(request.query) ? request.query : {})
    const scope = scopeOf(principalOf(request))
    const { of } = query
    if (of !== undefined && scope.queues !== undefined && (of.dimension !== 'queue' || !scope.queues.includes(of.name))) {
      throw new HttpError('FORBIDDEN', 'This API key is bound to queues; it may ask for those.')
    }
    return await statistics.read({ ...query, scope })
  })
}
