/** Lines that call a tool. */
export interface Snippet {
  name: string
  text: string
}

/** A call to be made again. */
interface Call {
  tool: string
  input: unknown
  session?: string | undefined
}

/** How a call is made, by the ways that there are; the key is a variable of the shell. */
export function snippetsOf ({ tool, input, session }: Call, address: string): Snippet[] {
  const json = JSON.stringify(input)
  const quoted = `'${json.replaceAll("'", "'\\''")}'`
  const [inSession, options] = session === undefined ? ['', ''] : [`?session=${encodeURIComponent(session)}`, `, { session: ${JSON.stringify(session)} }`]
  const ways: Snippet[] = [
    {
      name: 'curl',
      text: `curl -s '${address}/v1/tools/${encodeURIComponent(tool)}${inSession}' \\\n  -H "x-api-key: $TOOLYARD_API_KEY" -H 'content-type: application/json' \\\n  -d ${quoted}`
    },
    {
      name: 'TypeScript',
      text: `import { Toolyard } from '@toolyard/client'\n\nconst toolyard = new Toolyard({ url: '${address}' })\nawait toolyard.call(${JSON.stringify(tool)}, ${json}${options})`
    }
  ]
  // The others know no sessions.
  if (session !== undefined) return ways
  return [
    ...ways,
    { name: 'toolyard', text: `toolyard call ${tool} ${quoted}` },
    { name: 'Python', text: `from toolyard import Toolyard\n\ntoolyard = Toolyard(url="${address}")\ntoolyard.call(${JSON.stringify(tool)}, ${pythonOf(input)})` }
  ]
}

/** A value of JSON as Python writes it. */
function pythonOf (value: unknown): string {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  if (Array.isArray(value)) return `[${value.map(pythonOf).join(', ')}]`
  if (typeof value === 'object') return `{${Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${pythonOf(each)}`).join(', ')}}`
  return JSON.stringify(value)
}
