import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { repoRoot } from '../repo/source-tree.ts'

/** The shell commands of a page of the documents, one for each block. */
export function commandsOf (page: string): string[] {
  return [...readFileSync(join(repoRoot, page), 'utf8').matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, command = '']) => command)
}

/** A block of a page: a file where the fence names one, as in `js [agent.mjs]`; else something to run. */
export interface Snippet {
  language: string
  file: string | undefined
  /** Whether the text is an entry to add to the tools of the file, as in `json [tools.json: one more entry]`. */
  entry: boolean
  text: string
  line: number
}

/** Every block of a page in its order. Data and output, which name no file, are not among them. */
export function snippetsOf (page: string): Snippet[] {
  const markdown = readFileSync(join(repoRoot, page), 'utf8')
  return [...markdown.matchAll(/^```(\w+)(?: \[([^\]]+)\])?\n([\s\S]*?)^```$/gm)]
    .map(({ 1: language = '', 2: title, 3: text = '', index }) => {
      const [file, more] = title?.split(': ') ?? []
      return { language, file, entry: more === 'one more entry', text, line: markdown.slice(0, index).split('\n').length }
    })
    .filter(({ language, file }) => file !== undefined || ['sh', 'js', 'python'].includes(language))
}

/** The file after a reader of the page was there: the text in its place, or the entry added to its tools. */
export function followed ({ entry, text }: Snippet, present: () => string): string {
  if (!entry) return text
  const manifest = JSON.parse(present()) as { tools: unknown[] }
  return JSON.stringify({ ...manifest, tools: [...manifest.tools, JSON.parse(text)] }, null, 2)
}

/** Runs a command as a reader of the page does. */
export async function runCommand (
  command: string, env: Record<string, string>, cwd?: string
): Promise<{ status: number | null, output: string }> {
  const shell = spawn('sh', ['-ec', command], { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(shell.stdout), once(shell, 'exit') as Promise<[number | null]>])
  return { status, output }
}
