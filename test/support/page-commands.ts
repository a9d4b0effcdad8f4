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

/** Runs a command as a reader of the page does. */
export async function runCommand (
  command: string, env: Record<string, string>, cwd?: string
): Promise<{ status: number | null, output: string }> {
  const shell = spawn('sh', ['-ec', command], { env: { ...process.env, ...env }, cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  const [output, [status]] = await Promise.all([text(shell.stdout), once(shell, 'exit') as Promise<[number | null]>])
  return { status, output }
}
