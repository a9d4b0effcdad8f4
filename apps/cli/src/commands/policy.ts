import { asError, isRecord, permissions, readJson } from '@toolyard/contract/terms'
import type { PolicyAsker } from '@toolyard/manifests'
import { readFile } from 'node:fs/promises'
import { jsonOption, type Command } from '../terminal/command.ts'
import { exitStatus, misuse } from '../terminal/exit-status.ts'
import { print } from '../terminal/terminal.ts'

interface Case { tool: string, args: Record<string, unknown>, asker: PolicyAsker, expect: string | undefined }

const test: Command = {
  name: 'test',
  summary: 'Say what the rules do with the calls of a file',
  help: `Reads a JSON list of cases, {"tool": "pay", "args": {"amount": 700}, "key": {"name": "agent", "role": "admin"}, "expect": "hold"}, and asks
the rules of POLICY_FILE and of the manifests in TOOL_MANIFESTS. key, tenant, session, conversation and expect may be left out. The exit
status is 1 when a case is not as expected. Nothing runs, and no service is asked.`,
  arguments: ['<file>'],
  options: [jsonOption],
  run: async ({ args: [file = ''], options }) => {
    const cases = await readCases(file)
    const [{ decidePolicy, loadRegistry }, { loadEnvFile, readSettings, sampleManifests, toolSourcesOf }] = await Promise.all([
      import('@toolyard/manifests'), import('@toolyard/runtime')
    ])
    loadEnvFile()
    const settings = readSettings(process.env)
    const sources = { ...settings, TOOL_MANIFESTS: settings.TOOL_MANIFESTS ?? sampleManifests().split(',') }
    const registry = await loadRegistry(toolSourcesOf(sources, process.env))
    const results = await Promise.all(cases.map(async ({ tool, args, asker, expect }) => {
      const { decision, reason } = await decidePolicy(registry, tool, args, asker)
      return { tool, decision, reason, expect: expect ?? null, ok: expect === undefined || expect === decision }
    }))
    const isGood = results.every(({ ok }) => ok)
    print(options['json'] === true ? JSON.stringify({ ok: isGood, results }, null, 2) : results.map(row).join('\n'))
    return isGood ? exitStatus.done : exitStatus.failed
  }
}

/** `toolyard policy`: rules on calls. */
export const policy: Command = {
  name: 'policy',
  summary: 'Try the rules on calls',
  help: 'Rules of a manifest, and of the file in POLICY_FILE, allow, deny or hold calls: docs/approvals.md.',
  commands: [test]
}

async function readCases (file: string): Promise<Case[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => { throw misuse(`${file} can't be read: ${asError(error).message}`) })
  let value: unknown
  try {
    value = readJson(text)
  } catch (error) {
    throw misuse(`${file} is no JSON: ${String(error)}`)
  }
  if (!Array.isArray(value)) throw misuse(`${file} must be a list of cases`)
  return value.map((entry: unknown, index) => caseOf(entry, `${file}: [${index}]`))
}

function caseOf (entry: unknown, at: string): Case {
  if (!isRecord(entry)) throw misuse(`${at} must be an object`)
  const { tool, args = {}, key = {}, expect } = entry
  if (typeof tool !== 'string') throw misuse(`${at}.tool must be the name of a tool`)
  if (!isRecord(args)) throw misuse(`${at}.args must be an object`)
  if (!isRecord(key)) throw misuse(`${at}.key must be an object`)
  if (expect !== undefined && expect !== 'allow' && expect !== 'deny' && expect !== 'hold') throw misuse(`${at}.expect must be allow, deny or hold`)
  const text = (name: string, of: Record<string, unknown> = entry, fallback = ''): string => typeof of[name] === 'string' ? of[name] : fallback
  const held = Array.isArray(key['permissions']) ? key['permissions'].map(String) : [...permissions]
  return {
    tool,
    args,
    asker: { key: { name: text('name', key, 'default'), role: text('role', key, 'admin'), permissions: held }, tenant: text('tenant'), session: text('session'), conversation: text('conversation') },
    expect
  }
}

interface Result { tool: string, decision: string, reason: string | undefined, expect: string | null, ok: boolean }

function row ({ tool, decision, reason, expect, ok }: Result): string {
  const text = `${ok ? '' : 'not as expected: '}${tool}  ${decision}${reason === undefined ? '' : `  ${reason}`}`
  return ok ? text : `${text}  (expected ${String(expect)})`
}
