import { storedJson } from '@toolyard/contract/terms'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { failure, type Failure } from '../../run/outcome.ts'

/** A Python that can run the host, and where it looks for modules, which may be missing; or why there is none. */
export type Interpreter = { ok: true, path: string, modulePaths: readonly string[] } | Failure

const names = ['python3', 'python']
const oldest: readonly [number, number] = [3, 9]
const probe = 'import json, sys; print(json.dumps([sys.executable, *sys.version_info[:2], sys.path]))'
const probeTimeoutMs = 20_000

type Found = [path: string, major: number, minor: number, modulePaths: string[]]

/**
 * Looks for `python3`, then `python`, on the PATH of `env`, at least 3.9. The path is the interpreter's own: what is on
 * the PATH may be a script that only finds it.
 */
export async function findInterpreter (env: Readonly<Record<string, string>>): Promise<Interpreter> {
  let missing = 'python3 is not installed'
  for (const name of names) {
    const found = await probeInterpreter(name, env)
    if (found === undefined) continue
    const [path, major, minor, modulePaths] = found
    if (major > oldest[0] || (major === oldest[0] && minor >= oldest[1])) return { ok: true, path, modulePaths }
    missing = `${name} is ${major}.${minor}, but tools need ${oldest.join('.')} or later`
  }
  return failure('TOOL_UNAVAILABLE', missing)
}

async function probeInterpreter (name: string, env: Readonly<Record<string, string>>): Promise<Found | undefined> {
  try {
    const { stdout } = await promisify(execFile)(name, ['-I', '-c', probe], { env: { NODE_V8_COVERAGE: undefined, ...env }, timeout: probeTimeoutMs })
    const [path, ...rest] = storedJson<[string | null, number, number, string[]]>(stdout)
    return [path === null || path === '' ? name : path, ...rest]
  } catch {
    return undefined
  }
}
