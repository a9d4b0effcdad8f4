import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { accessSync, constants } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const samplesDir = fileURLToPath(new URL('../../../samples', import.meta.url))

/** One entry of `samples/tools.json`. */
interface SampleTool {
  name: string
  description: string
  schema: { type: string, properties: Record<string, Record<string, unknown>>, required: string[], additionalProperties: boolean }
  command: string[]
  timeoutSec: number
}

/** How a run of a sample tool ended. */
export interface Run {
  code: number | null
  stdout: string
  stderr: string
}

/** A reason to skip tests of the tools in Python on a machine without it. */
export const withoutPython: string | false = onPath('python3') ? false : 'this machine has no python3'

export async function readSamples (): Promise<SampleTool[]> {
  const { tools } = JSON.parse(await readFile(join(samplesDir, 'tools.json'), 'utf8')) as { tools: SampleTool[] }
  return tools
}

/** Makes a copy of the sample workspace that is gone after the test, and returns its path. */
export async function copyWorkspace (t: Test): Promise<string> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), 'toolyard-samples-')))
  t.teardown(() => rm(dir, { recursive: true, force: true }))
  const workspace = join(dir, 'workspace')
  await cp(join(samplesDir, 'workspace'), workspace, { recursive: true })
  return workspace
}

/**
 * Runs a sample tool as its executor does: by argv, with the arguments on stdin, PATH and HOME alone in the
 * environment, and the workspace as the working directory. `args` that are a text go to stdin as they are.
 */
export async function runSample (name: string, args: object | string, cwd: string, path = process.env['PATH'] ?? ''): Promise<Run> {
  const tool = (await readSamples()).find(sample => sample.name === name)
  const program = tool?.command[0]
  if (tool === undefined || program === undefined) throw new Error(`no sample tool ${name}`)
  const child = spawn(join(samplesDir, program), tool.command.slice(1), { cwd, env: { PATH: path, HOME: cwd } })
  const run: Run = { code: null, stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => { run.stdout += text })
  child.stderr.setEncoding('utf8').on('data', (text: string) => { run.stderr += text })
  // A tool that can't start doesn't read its stdin.
  child.stdin.on('error', () => {})
  child.stdin.end(typeof args === 'string' ? args : JSON.stringify(args))
  return await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => { resolve({ ...run, code }) })
  })
}

/** Runs a sample tool that must succeed with one line of JSON, and returns its value. */
export async function callSample (t: Test, name: string, args: object | string, cwd: string): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await runSample(name, args, cwd)
  t.equal(code, 0, `${name} succeeds: ${stderr}`)
  t.match(stdout, /^[^\n]+\n$/, `${name} prints one line`)
  return JSON.parse(stdout) as Record<string, unknown>
}

/** Runs a sample tool that must fail with one line `{"error"}` on stderr, and returns the error's text. */
export async function failSample (t: Test, name: string, args: object | string, cwd: string): Promise<unknown> {
  const { code, stdout, stderr } = await runSample(name, args, cwd)
  t.equal(code, 1, `${name} fails`)
  t.equal(stdout, '', `${name} prints nothing on stdout`)
  t.match(stderr, /^[^\n]+\n$/, `${name} prints one line on stderr`)
  const value = JSON.parse(stderr) as { error: unknown }
  t.same(Object.keys(value), ['error'])
  return value.error
}

function onPath (program: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some(dir => {
    try {
      accessSync(join(dir, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}
