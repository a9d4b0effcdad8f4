import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { JobLogsResponse } from '@toolyard/contract'
import { entries, programs } from '../e2e/tools.ts'
import { submit } from '../jobs/submission.ts'
import { makeCertificates } from '../support/certificates.ts'
import { waitFor } from '../support/condition.ts'
import { createService } from '../support/service.ts'
import { callbackEnv, documentedCheck, secret, startReceiver } from '../callbacks/receiver.ts'

const dir = t.testdir()
makeCertificates(dir, 'hooks')
const [cert, key] = ['hooks.pem', 'hooks.key'].map(name => readFileSync(join(dir, name), 'utf8'))
const receiver = await startReceiver(t, {}, { cert: cert ?? '', key: key ?? '' })
const { CALLBACK_ALLOW_HTTP: _, ...env } = callbackEnv
const service = await createService(t, { files: programs, tools: entries, workers: 0, env: { ...env, CALLBACK_ATTEMPTS: '1' } })

/** Submits a job and waits for what the log says of its callback. */
async function deliver (path: string): Promise<string> {
  const { id } = await submit(service.client, { type: 'agentcli.echo', callback_url: receiver.url + path })
  return await waitFor('the callback is in the log', async () => {
    const { body } = await service.client.request<JobLogsResponse>(`/v1/jobs/${id}/logs`)
    return body.logs.find(line => line.meta?.['callback'] !== undefined)?.message
  })
}

t.test('RC33, fault 44 a receiver whose certificate is not trusted gets nothing', async t => {
  const worker = await service.startWorker()
  const message = await deliver('/untrusted')
  t.match(message, /^callback to 127\.0\.0\.1:\d+ (failed|given up)/)
  t.match(message, /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT/)
  t.same(receiver.received, [])
  await worker.stop()
})

t.test('RC33 a receiver is called over https, with a certificate of an authority that the operator trusts', async t => {
  await service.startWorker({ NODE_EXTRA_CA_CERTS: join(dir, 'ca.pem') })
  t.match(await deliver('/trusted'), /delivered: status 204$/)
  const [callback] = await receiver.at('/trusted')
  const check = await documentedCheck()
  t.equal(check({ headers: callback?.headers ?? {}, body: callback?.text ?? '' }, secret), undefined)
})
