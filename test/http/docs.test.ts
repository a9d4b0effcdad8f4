import t from 'tap'
import { injectService } from '../support/injected.ts'

const { client } = await injectService(t, { workers: 0, env: { BASE_PATH: '/outer' } })

t.test('/docs is a page for everybody that may load only its own files', async t => {
  const { status, headers, text } = await client.request('/docs', { key: null })
  t.equal(status, 200)
  t.match(headers.get('content-type'), /^text\/html/)
  const policy = headers.get('content-security-policy') ?? ''
  t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /)
  t.notMatch(policy, /unsafe|\*|https?:/)
  const parts = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, part = '']) => part)
  t.ok(parts.every(part => part.startsWith('/outer/')), 'its parts have the path that a proxy serves it under')
  for (const part of parts.filter(part => part.startsWith('/outer/docs/'))) {
    const file = await client.request(part.slice('/outer'.length), { key: null })
    t.equal(file.status, 200, part)
    t.equal(file.headers.get('x-content-type-options'), 'nosniff')
  }
  t.equal((await client.request('/docs/', { key: null })).headers.get('location'), '/outer/docs')
})

t.test('below /docs there are only the files of the page', async t => {
  for (const file of ['none.js', 'index.html', 'routes.js', '..%2froutes.js', '%2e%2e%2fpackage.json', 'swagger-ui.js', '__proto__', 'constructor', 'a/b']) {
    const { status, body } = await client.request<{ error: { code: string } }>(`/docs/${file}`, { key: null })
    t.match({ status, code: body.error.code }, { status: 404, code: 'NOT_FOUND' }, file)
  }
  t.equal((await client.request('/docs', { method: 'POST', body: {} })).status, 404)
})
