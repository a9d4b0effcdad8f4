import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError, type Api } from './api.ts'

interface LoginProps {
  api: Api
  /** Why somebody who had logged in is here. */
  notice: string | undefined
  onLogin: () => void
}

export function Login ({ api, notice, onLogin }: LoginProps): VNode {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isLocked, setLocked] = useState(false)
  const [isBusy, setBusy] = useState(false)

  async function submit (event: Event): Promise<void> {
    event.preventDefault()
    setBusy(true)
    try {
      await api.ask('/v1/auth/login', { method: 'POST', body: { key } })
      onLogin()
    } catch (error) {
      setProblem(error instanceof ApiError && error.status === 401 ? 'No such API key.' : String(error instanceof Error ? error.message : error))
      setLocked(error instanceof ApiError && error.status === 429)
      setBusy(false)
    }
  }

  return (
    <main class='login'>
      <form class='card' onSubmit={event => { void submit(event) }}>
        <h1>Toolyard</h1>
        <p class='soft'>{notice ?? 'Log in with an API key. You may do here what the key may do.'}</p>
        <label for='key'>API key</label>
        <input
          id='key' type='password' autocomplete='current-password' required autofocus value={key}
          aria-invalid={problem !== undefined} aria-describedby='login-problem'
          onInput={event => { setKey(event.currentTarget.value) }}
        />
        <p id='login-problem' class='problem' role='alert'>{problem}</p>
        {isLocked && (
          <p class='soft small'>
            Attempts are counted by address. If these were not yours, others come to the service from the same address: behind a proxy
            it must have <code>TRUST_PROXY</code>. Another address may log in meanwhile, and API calls go on.
          </p>
        )}
        <button class='primary' disabled={isBusy}>Log in</button>
        <p class='soft small'>A first start wrote one to <code>.env</code>: <code>grep ^API_KEY= .env</code></p>
      </form>
    </main>
  )
}
