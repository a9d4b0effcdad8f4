/** Lines that call a tool. */
export interface Snippet {
  name: string
  text: string
}

/** How a tool is called with these arguments, by the ways that there are; the key is a variable of the shell. */
export function snippetsOf (tool: string, input: unknown, address: string): Snippet[] {
  const json = JSON.stringify(input)
  const quoted = `'${json.replaceAll("'", "'\\''")}'`
  return [
    {
      name: 'curl',
      text: `curl -s '${address}/v1/tools/${encodeURIComponent(tool)}' \\\n  -H "x-api-key: $TOOLYARD_API_KEY" -H 'content-type: application/json' \\\n  -d ${quoted}`
    },
    { name: 'toolyard', text: `toolyard call ${tool} ${quoted}` },
    {
      name: 'TypeScript',
      text: `import { Toolyard } from '@toolyard/client'\n\nconst toolyard = new Toolyard({ url: '${address}' })\nawait toolyard.call(${JSON.stringify(tool)}, ${json})`
    },
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
