import { realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { Toolyard } from '@toolyard/client'
import { loadEnvFile, readSettings, type Settings } from '@toolyard/runtime'
import { asError, isRecord, readJson, writeThrough } from '@toolyard/contract/terms'
import type { CommandLine, RunCommand } from '../terminal/command.ts'
import { CommandError, exitStatus } from '../terminal/exit-status.ts'
import { meantText } from '../terminal/terminal.ts'

export interface Target {
  /** With its base path, without a slash at the end. */
  url: string
  apiKey: string | undefined
  /** For people: where, and with which key. */
  description: string
}

/**
 * Finds the service: TOOLYARD_URL and TOOLYARD_API_KEY, else the address and an admin's key of the settings. A key of the
 * settings goes to this machine alone, and to an address that `.env` says goes no key but that of `.env`, or of a file below its
 * directory: who wrote `.env` may be somebody else than who has the key.
 *
 * @throws CommandError where a key of the environment would go to an address of `.env`: to take the file's own key instead
 *   could do more than the caller may.
 */
export function findTarget (env: NodeJS.ProcessEnv): Target {
  const { url, keys, settings, isOfFile } = readAddress(env)
  const [apiKey, source] = keyOf(keys, settings, url)
  const [meant, place] = isOfFile ? keyOf(env, readSettings(env), url) : [apiKey, source]
  if (meant !== apiKey) throw new CommandError(`.env says the address ${url}, to which only a key is sent that is in .env, or in a file below its directory. For ${place} of the environment, or of another file, set TOOLYARD_URL there, too, or unset that key.`, { status: exitStatus.misused, code: 'MISUSED' })
  return { url, apiKey, description: `${url} with ${source}` }
}

/** The address of the service, for what sends no key. */
export function findAddress (env: NodeJS.ProcessEnv): string {
  return readAddress(env).url
}

/** The address, and the variables and settings whose keys may be sent there. */
function readAddress (env: NodeJS.ProcessEnv): { url: string, keys: NodeJS.ProcessEnv, settings: Settings, isOfFile: boolean } {
  const before = { ...env }
  loadEnvFile()
  const isOfFile = isAddressOfFile(before, env)
  const isSent = (name: string): boolean => !keyNames.includes(name) || (before[name] === undefined && !namesFileElsewhere(name, env))
  const keys = isOfFile ? Object.fromEntries(Object.entries(env).filter(([name]) => isSent(name))) : env
  const settings = readSettings(keys)
  const { TOOLYARD_URL: given } = env
  const url = (given ?? '') === '' ? addressOf(settings) : String(given).replace(/\/+$/, '')
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) throw new CommandError(`TOOLYARD_URL must begin with http:// or https://, unlike '${url}'`, { status: exitStatus.misused, code: 'MISUSED' })
  return { url, keys, settings, isOfFile }
}

const keyNames = ['TOOLYARD_API_KEY', 'API_KEY', 'API_KEY_FILE', 'API_KEYS_JSON', 'API_KEYS_JSON_FILE']
/** Whether a file that is not below the working directory has the key: whoever wrote `.env` may name one that he can't read. */
function namesFileElsewhere (name: string, { [name]: file = '' }: NodeJS.ProcessEnv): boolean {
  if (!name.endsWith('_FILE') || file.trim() === '') return false
  try {
    return !realpathSync(file.trim()).startsWith(`${realpathSync('.')}${sep}`)
  } catch {
    // Nothing is read of it.
    return false
  }
}

const addressNames = ['HOST', 'PORT', 'BASE_PATH'].flatMap(name => [name, `${name}_FILE`])

/** Whether the file has said where the service is. */
function isAddressOfFile (before: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv): boolean {
  const isSaid = (name: string): boolean => (env[name] ?? '') !== ''
  const names = isSaid('TOOLYARD_URL') ? ['TOOLYARD_URL'] : addressNames
  return names.some(name => before[name] === undefined && isSaid(name))
}

/** A client that gives up soon: a person waits. */
export function clientOf ({ url, apiKey }: Target, retryMs = 1_000): Toolyard {
  return new Toolyard({ url, apiKey: apiKey ?? '', retryMs, json: { parse: readJson, stringify: writeThrough } })
}

export function asking (ask: (target: Target, given: CommandLine) => ReturnType<RunCommand>): RunCommand {
  return async given => {
    const target = findTarget(process.env)
    return await ask(target, given).catch((error: unknown) => { throw commandError(error, target) })
  }
}

/** The same for what the client has a method for. */
export function withClient (ask: (client: Toolyard, given: CommandLine) => ReturnType<RunCommand>, retryMs?: number): RunCommand {
  return asking(async (target, given) => await ask(clientOf(target, retryMs), given))
}

export function commandError (error: unknown, { url, apiKey, description }: Target): Error {
  if (error instanceof CommandError) return error
  const { status, details, jobId, ...told }: Record<string, unknown> = isRecord(error) ? error : {}
  const code = typeof told['code'] === 'string' ? told['code'] : 'FAILED'
  const message = isRecord(error) && typeof error['message'] === 'string' ? error['message'] : String(error)
  if (code === 'UNREACHABLE' && /wrong version number|packet length too long/i.test(message)) return new CommandError(`${url} does not speak https. Write http:// in TOOLYARD_URL, or name the port that has TLS.`, { status: exitStatus.unreachable, code })
  if (code === 'NOT_FOUND' && message.startsWith('No route ')) return new CommandError(`${url} has no such route: ${message.slice(9)}. See whether TOOLYARD_URL ends with the BASE_PATH of the service.`, { status: exitStatus.refused, code })
  if (code === 'UNREACHABLE') return new CommandError(`${message}. Start it with toolyard start, or set TOOLYARD_URL.`, { status: exitStatus.unreachable, code })
  if (code === 'UNAUTHORIZED') return new CommandError(apiKey === undefined ? `the service wants a key. It was asked at ${description}.` : `${url} doesn't take this key. Set TOOLYARD_API_KEY, or be where its .env is.`, { status: exitStatus.refused, code })
  if (code === 'BAD_ANSWER') return new CommandError(`${url} isn't a service of Toolyard, or something stands before it. ${message}`, { status: exitStatus.unreachable, code })
  if (status !== undefined && status !== 200) return new CommandError(`${code}: ${message}${meantIn(details)}`, { status: exitStatus.refused, code, details })
  if (code === 'TIMEOUT' && typeof jobId === 'string') return new CommandError(`the call goes on as a job: toolyard jobs logs -f ${jobId}`, { status: exitStatus.pending, code, details: { job_id: jobId } })
  if ((code === 'HELD' || code === 'INPUT_REQUIRED') && typeof jobId === 'string') return new CommandError(`${code}: ${message}`, { status: exitStatus.pending, code, details: { job_id: jobId } })
  if (code === 'TOOL_TIMEOUT') return new CommandError(`${code}: ${message}${timeoutAdvice(details)}`, { code, details })
  if (code === 'FAILED') return asError(error)
  return new CommandError(`${code}: ${message}${adviceIn(code, message, details)}`, { code, details })
}

/** What may help after an error of a call: the tools that may have been meant, or what would open what was refused. */
function adviceIn (code: string, message: string, details: unknown): string {
  const { hint } = (details ?? {}) as { hint?: unknown }
  const meant = meantIn(details)
  const faults = message.includes('toolyard validate') ? '' : ', and toolyard validate tells the faults of an entry'
  const unknown = code === 'UNKNOWN_TOOL' ? `. toolyard tools lists those of this key${faults}` : ''
  return `${meant === '' ? unknown : `${meant} toolyard tools lists them`}${typeof hint === 'string' ? `\n${hint}` : ''}`
}

/** Lines of a tool that ran too long. */
const lastLines = 5

/** After how long a tool was ended, what gives it more time, and its last words. */
function timeoutAdvice (details: unknown): string {
  const { timeout_sec: seconds, stderr, stdout } = isRecord(details) ? details : {}
  const said = [stderr, stdout].find((text): text is string => typeof text === 'string' && text.trim() !== '')
  const words = said === undefined ? [] : ['Its last words:', ...said.trimEnd().split('\n').slice(-lastLines).map(line => `  ${line}`)]
  const after = typeof seconds === 'number' ? ` after ${seconds} s` : ''
  return [`${after}. timeoutSec of its entry (runtime.timeout_seconds in a tool manifest) gives it more time`, ...words].join('\n')
}

/** The names that the details of an error say may have been meant. */
function meantIn (details: unknown): string {
  const { did_you_mean: names } = (details ?? {}) as { did_you_mean?: unknown }
  return Array.isArray(names) && names.length > 0 ? `.${meantText(names)}` : ''
}

function addressOf ({ HOST: host, PORT: port, BASE_PATH: base }: Settings): string {
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}${base}`
}

/** The key for an address, and what a person knows it by. */
function keyOf (
  { TOOLYARD_API_KEY: given }: NodeJS.ProcessEnv, { API_KEY: key, API_KEYS_JSON: keys }: Settings, url: string
): [key: string | undefined, source: string] {
  if ((given ?? '') !== '') return [given, 'TOOLYARD_API_KEY']
  if (!isHere(url)) return [undefined, 'no key: set TOOLYARD_API_KEY']
  const admin = keys?.find(({ role }) => role === 'admin') ?? keys?.[0]
  if (admin !== undefined) return [admin.key, `the key '${admin.name}' of API_KEYS_JSON`]
  return key === undefined ? [undefined, 'no key'] : [key, 'API_KEY']
}

function isHere (url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d{1,3}){3}$/.test(hostname)
}
