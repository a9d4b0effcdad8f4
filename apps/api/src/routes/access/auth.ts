import { ErrorBody, WhoAmI } from '@toolyard/contract'
import type { App } from '../../plugins/typed-app.ts'
import { principalOf } from '../../access/principal.ts'

export async function authRoutes (app: App): Promise<void> {
  app.get('/auth/whoami', { schema: { response: { 200: WhoAmI, '4xx': ErrorBody } } }, async request => {
    const { name, role, sse, queueAllowlist, namespaces, hosts, tenant } = principalOf(request)
    return {
      ok: true as const,
      auth: {
        name,
        role,
        sse,
        can_write: role === 'admin',
        can_approve: role !== 'read',
        queue_allowlist: queueAllowlist === undefined ? null : [...queueAllowlist],
        ...(namespaces === undefined ? {} : { namespaces: [...namespaces] }),
        ...(hosts === undefined ? {} : { hosts: [...hosts] }),
        ...(tenant === undefined ? {} : { tenant })
      }
    }
  })
}
