import t from 'tap'
import { createService } from '../support/service.ts'
import { startBrowser } from './browser.ts'
import { openConsole } from './console-page.ts'

const browser = await startBrowser(t)

void t.test('the operator stores, replaces and removes a secret, whose value is on no page', { skip: typeof browser === 'string' && browser }, async t => {
  if (typeof browser === 'string') return
  const { client, api: { address } } = await createService(t, { env: { SECRETS_KEY: '0123456789abcdef'.repeat(4) } })
  const { page, problems } = await browser.open()
  await openConsole(page, address)
  await page.getByRole('link', { name: 'Secrets' }).click()
  await page.getByText('No secrets.').waitFor()
  const store = async (value: string): Promise<void> => {
    await page.getByLabel('Value').fill(value)
    await page.getByRole('button', { name: 'Store' }).click()
    await page.getByText('mail is stored.').waitFor()
    t.equal(await page.getByLabel('Value').inputValue(), '')
    t.notMatch(await page.content(), value)
  }
  const stored = async (): Promise<unknown> => (await client.request<{ secrets: unknown }>('/v1/secrets')).body.secrets
  await page.getByLabel('Name').fill('mail')
  await page.getByLabel('Whose').selectOption('tenant')
  await page.getByLabel('Tenant').fill('acme')
  await store('first-value-of-mail')
  t.match(await stored(), [{ name: 'mail', scope: 'tenant', tenant: 'acme' }])
  await page.getByRole('button', { name: 'Replace mail of the tenant acme' }).click()
  t.equal(await page.getByLabel('Tenant', { exact: true }).inputValue(), 'acme')
  await store('second-value-of-mail')
  t.equal((await stored() as unknown[]).length, 1)
  await page.getByRole('button', { name: 'Remove mail of the tenant acme' }).click()
  await page.getByRole('button', { name: 'Remove the secret' }).click()
  await page.getByText('No secrets.').waitFor()
  t.same(await stored(), [])
  t.same(problems, [])
})
