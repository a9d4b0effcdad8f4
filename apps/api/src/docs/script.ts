/*
 * The script of the page `/docs`, which runs in a browser. Only what it uses of a browser is declared here, so that the
 * types of browsers are nowhere else.
 */

interface Page extends Element {
  querySelector: (selector: string) => Element | null
  documentElement: Element
}

interface Element {
  value: string
  textContent: string
  dataset: Record<string, string | undefined>
  classList: { toggle: (name: string, on: boolean) => void }
  addEventListener: (event: string, listener: (event: { preventDefault: () => void }) => void) => void
}

interface Spec {
  servers: Array<{ url: string }>
  paths: object
}

interface SwaggerUi {
  preauthorizeApiKey: (scheme: string, key: string) => void
}

declare const document: Page
declare const location: { origin: string }
declare const matchMedia: (query: string) => { matches: boolean, addEventListener: (event: 'change', listener: () => void) => void }
declare const SwaggerUIBundle: (options: object) => SwaggerUi

/** Operations that are listed at once; of more the groups are closed. */
const listed = 100

const base = document.documentElement.dataset['base'] ?? ''
const find = (selector: string): Element => document.querySelector(selector) ?? document
const status = find('#status')
const dark = matchMedia('(prefers-color-scheme: dark)')

function followTheme (): void {
  document.documentElement.classList.toggle('dark-mode', dark.matches)
}

/** Shows the document: of a key with its tools. */
async function show (key: string): Promise<void> {
  const answer = await fetch(`${base}/openapi.json`, { headers: key === '' ? {} : { 'x-api-key': key } })
  if (!answer.ok) {
    status.textContent = answer.status === 401 ? 'No such API key.' : `The document can't be read: status ${answer.status}.`
    return
  }
  const spec: unknown = await answer.json()
  if (!isSpec(spec)) return
  const tools = Object.keys(spec.paths).filter(path => /^\/v1\/tools\/\w/.test(path)).length
  const ui = SwaggerUIBundle({
    dom_id: '#swagger-ui',
    // The page may ask its own host alone, whatever the document says of it.
    spec: { ...spec, servers: [{ url: location.origin + base }] },
    docExpansion: Object.keys(spec.paths).length > listed ? 'none' : 'list',
    // Its links would be within buttons, where keyboards and screen readers don't find them.
    deepLinking: false,
    defaultModelsExpandDepth: -1,
    validatorUrl: null,
    onComplete: () => { if (key !== '') ui.preauthorizeApiKey('key', key) }
  })
  status.textContent = key === '' ? '' : `${tools} ${tools === 1 ? 'tool' : 'tools'} of this key.`
}

function isSpec (value: unknown): value is Spec {
  return typeof value === 'object' && value !== null && 'paths' in value && typeof value.paths === 'object'
}

followTheme()
dark.addEventListener('change', followTheme)
find('#key-form').addEventListener('submit', event => {
  event.preventDefault()
  void show(find('#key').value.trim())
})
void show('')

export {}
