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
  text: string
  /** The line of the page that the fence is on. */
  line: number
}

/** Every block of a page in its order. Data and output, which name no file, are not among them. */
export function snippetsOf (page: string): Snippet[] {
  const markdown = readFileSync(join(repoRoot, page), 'utf8')
  return [...markdown.matchAll(/^```(\w+)(?: \[([^\]]+)\])?\n([\s\S]*?)^```$/gm)]
    .map(({ 1: language = '', 2: file, 3: text = '', index }) => ({ language, file, text, line: markdown.slice(0, index).split('\n').length }))
    .filter(({ language, file }) => file !== undefined || ['sh', 'js', 'python'].includes(language))
}

/** Runs a command as a reader of the page does. */
export async function runCommand (
  command: string, env: Record<string, string>, cwd?: string
): Promise<{ status: number | null, output: string }> {
  const shell = spawn('sh', ['-ec', command], { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(shell.stdout), once(shell, 'exit') as Promise<[number | null]>])
  return { status, output }
}
