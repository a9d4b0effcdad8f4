import { lostText, writeThrough } from '@toolyard/contract/terms'

export interface Snippet {
  name: string
  text: string
}

interface Call {
  tool: string
  input: unknown
  session?: string | undefined
}

/** How a call is made, by the ways that there are; the key is a variable of the shell. */
export function snippetsOf ({ tool, input, session }: Call, address: string): Snippet[] {
  const json = writeThrough(input)
  const quoted = inQuotes(json)
  const [inSession, options] = session === undefined ? ['', ''] : [`?session=${encodeURIComponent(session)}`, `, { session: ${JSON.stringify(session)} }`]
  const ways: Snippet[] = [
    {
      name: 'curl',
      text: `curl -s ${inQuotes(`${address}/v1/tools/${encodeURIComponent(tool)}${inSession}`)} \\\n  -H "x-api-key: $TOOLYARD_API_KEY" -H 'content-type: application/json' \\\n  -d ${quoted}`
    },
    {
      name: 'TypeScript',
      text: `import { Toolyard } from '@toolyard/client'\n\nconst toolyard = new Toolyard({ url: '${address}' })\nawait toolyard.call(${JSON.stringify(tool)}, ${codeOf(input, inTypeScript)}${options})`
    }
  ]
  // The others know no sessions.
  if (session !== undefined) return ways
  return [
    ...ways,
    { name: 'toolyard', text: `toolyard call ${inShell(tool)} ${quoted}` },
    { name: 'Python', text: `from toolyard import Toolyard\n\ntoolyard = Toolyard(url="${address}")\ntoolyard.call(${JSON.stringify(tool)}, ${codeOf(input, inPython)})` }
  ]
}

/** A name as an argument of a program. Manifests of others may hold any name, and a line is run with the rights of whoever pastes it. */
function inShell (name: string): string {
  return /^\w[\w-]*$/.test(name) ? name : `${name.startsWith('-') ? '-- ' : ''}${inQuotes(name)}`
}

function inQuotes (text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** How a language writes what JSON writes otherwise. */
interface Language {
  nothing: string
  truths: readonly [string, string]
  /** A whole number that a double can't hold, by its digits. */
  large: (digits: string) => string
}

const inPython: Language = { nothing: 'None', truths: ['False', 'True'], large: digits => digits }
const inTypeScript: Language = { nothing: 'null', truths: ['false', 'true'], large: digits => `${digits}n` }

function codeOf (value: unknown, language: Language): string {
  if (value === null) return language.nothing
  if (typeof value === 'boolean') return language.truths[Number(value)] ?? ''
  const memberOf = (container: object, name: string | number): string => {
    const text = lostText(container, name)
    return text !== undefined && /^-?\d+$/.test(text) ? language.large(text) : text ?? codeOf(Reflect.get(container, name), language)
  }
  if (Array.isArray(value)) return `[${value.map((_, at) => memberOf(value, at)).join(', ')}]`
  if (typeof value === 'object') return `{${Object.keys(value).map(name => `${JSON.stringify(name)}: ${memberOf(value, name)}`).join(', ')}}`
  return JSON.stringify(value)
}
