import { createHash } from 'node:crypto'

const style = `
:root { color-scheme: light dark; --back: #f4f5f7; --card: #fff; --line: #d4d9e0; --text: #1d2530; --soft: #5b6675; --accent: #2b5fd9; --bad: #b3261e }
@media (prefers-color-scheme: dark) { :root { --back: #151a21; --card: #1d242e; --line: #36404d; --text: #e6eaf0; --soft: #97a3b3; --accent: #6f9bff; --bad: #ff8a80 } }
* { box-sizing: border-box }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; background: var(--back); color: var(--text); font: 16px/1.5 system-ui, sans-serif }
main { width: min(25rem, calc(100vw - 2rem)); padding: 2rem; background: var(--card); border: 1px solid var(--line); border-radius: 10px }
h1 { margin: 0 0 .25rem; font-size: 1.35rem }
p { margin: 0 0 1.25rem; color: var(--soft) }
p.bad { color: var(--bad) }
label { display: block; margin-bottom: .35rem; font-weight: 600 }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 6px }
button { margin-top: 1rem; width: 100%; padding: .65rem; font: inherit; font-weight: 600; color: var(--card); background: var(--accent); border: 0; border-radius: 6px; cursor: pointer }
a { display: block; margin-top: 1rem; text-align: center; color: var(--accent) }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
`

/** SHA-256 of the forms' style sheet, in base64. */
export const styleDigest = createHash('sha256').update(style).digest('base64')

/** The page on which an operator logs in; `problem` says why the last attempt failed. */
export function loginForm (base: string, problem?: string): string {
  return page('Log in', `
<p>The queue dashboard needs an API key of an admin.</p>
${problem === undefined ? '' : `<p class="bad" role="alert">${escape(problem)}</p>`}
<form method="post" action="${escape(base)}login">
<label for="key">API key</label>
<input id="key" name="key" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>`)
}

/** The page on which an operator logs out. */
export function logoutForm (base: string, keyName: string): string {
  return page('Log out', `
<p>You are logged in with the key “${escape(keyName)}”.</p>
<form method="post" action="${escape(base)}logout"><button>Log out</button></form>
<a href="${escape(base)}">Back to the dashboard</a>`)
}

function page (title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<link rel="icon" href="data:,"><title>${title} · Toolyard</title><style>${style}</style></head>
<body><main><h1>Toolyard</h1>${content}
</main></body>
</html>
`
}

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
