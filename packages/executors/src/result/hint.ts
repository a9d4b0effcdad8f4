import { basename, isAbsolute } from 'node:path'
import type { CallError, Permission } from '@toolyard/contract'
import { isRecord, isSecretVariable } from '@toolyard/contract/terms'
import type { Tool } from '@toolyard/manifests'
import type { ProcessLimits } from '@toolyard/sandbox'
import { boxLimitsOf } from '../run/box-limits.ts'
import type { Outcome } from '../run/outcome.ts'

/** Node.js says ENOENT where it makes directories with their parents. */
const refusedWrite = /read-only file system|\bEROFS\b|readonly database|\bENOENT\b.*, mkdir\b/i
const noNetwork = /\b(?:ENETUNREACH|EHOSTUNREACH|ECONNREFUSED|EAI_AGAIN|ENOTFOUND|gaierror)\b|network is unreachable|no route to host|connection refused|name resolution|name or service not known|could not resolve host|\bfetch failed\b/i
/** How programs say that a variable isn't there: shells, Python, and what authors write. */
const missingVariable = [
  /(?:^|[\s:])([A-Z][A-Z0-9_]+): (?:unbound variable|parameter (?:null or )?not set)/m,
  /\bKeyError: '([A-Z][A-Z0-9_]+)'/,
  /\b[Ee]nvironment [Vv]ariable:? ["'`$]?([A-Z][A-Z0-9_]+)\b/,
  /(?:^|[\s:"'`$])([A-Z][A-Z0-9]*_[A-Z0-9_]+)["'`]? (?:environment variable )?(?:is |was )?(?:not set|not defined|unset|undefined|missing|required|must be set)/m
]
const noRoomForCode = /Failed to reserve virtual memory for CodeRange/
/** How programs say that they have reached a limit of their box. */
const reachedLimits: ReadonlyArray<[keyof ProcessLimits, RegExp]> = [
  ['openFiles', /\bEMFILE\b|too many open files/i],
  ['fileBytes', /\bEFBIG\b|file too large|^signal: SIGXFSZ$/i],
  ['tempBytes', /\bENOSPC\b|no space left on device/i],
  ['cpuSec', /^signal: SIGXCPU$|cpu time limit exceeded/i],
  ['memoryBytes', /\bMemoryError\b|\bENOMEM\b|\bbad_alloc\b|cannot allocate memory|memory exhausted|memory allocation of \d+ bytes failed|\bout ?of ?memory/i],
  ['processes', /can't start new thread|failed to create (?:new OS )?thread|(?:fork|spawn|pthread_create)\b.*(?:\bEAGAIN\b|resource temporarily unavailable)/i]
]
/** Of .NET, which says so of other limits as well. */
const dotnetShortage = /(?:^|: )Out of memory\.$/m
const notFound = /cannot find|not found|no such file|can't open/i
const killed = /^(?:signal: SIGKILL|.*\bKilled)$/m
const noUnixSocket = /\bEAFNOSUPPORT\b|address family not supported/i
const usesOffice = /\b(?:soffice|libreoffice)\b/i
const always = ['PATH', 'HOME', 'LANG']
/** They fetch what they start, and wait long for a network that isn't there. */
const fetchingPrograms = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx'])

/**
 * Adds `details.hint` to a failure that reads like something the tool may not do: the permission or the field that
 * would open it. A hint of the tool's own stays. It is made from the tool's words and its manifest alone, so that it
 * tells nothing of the variables that the service has.
 *
 * @param held the permissions that the sandbox enforces; undefined for a tool that runs in the open
 */
export function withHint (outcome: Outcome, tool: Tool, held: readonly Permission[] | undefined): Outcome {
  return outcome.ok ? outcome : { ...outcome, error: hinted(outcome.error, tool, held) }
}

/** The same for the error alone. */
export function hinted (error: CallError, tool: Tool, held: readonly Permission[] | undefined): CallError {
  if (!['TOOL_FAILED', 'TOOL_UNAVAILABLE'].includes(error.code)) return error
  const details = isRecord(error.details) ? error.details : {}
  const hint = Object.hasOwn(details, 'hint') ? undefined : hintOf(error, tool, held)
  return hint === undefined ? error : { ...error, details: { ...details, hint } }
}

function hintOf (
  { code, message }: CallError, { run, network, unixSockets, limits }: Tool, held: readonly Permission[] | undefined
): string | undefined {
  const server = run.kind === 'mcp' && run.server.connection.kind === 'stdio' ? { limits: run.server.limits, ...run.server.connection } : undefined
  const isServer = server !== undefined
  if (!isServer && run.kind !== 'command' && run.kind !== 'skill' && run.kind !== 'skill-command' && run.kind !== 'skill-run' && run.kind !== 'python') return undefined
  if (noRoomForCode.test(message)) return 'Node.js 24 and newer reserve 512 MiB for code, which count as memory: raise "memoryBytes" in the "limits" of the tool to 640 MiB (671088640) and what the program itself needs.'
  const mayBeGiven = isServer || run.kind === 'command' || run.kind === 'skill-run'
  if (held !== undefined && mayBeGiven && unixSockets !== true && noUnixSocket.test(message)) return `A Unix socket has no place in its box: "unixSockets": true in ${run.kind === 'skill-run' ? 'the entry of the operator about the skill' : 'its manifest entry'} lets it have some.`
  const limit = held === undefined ? undefined : reachedLimit(message, isServer ? server.limits : limits, run)
  if (limit !== undefined) return limit
  if (run.kind === 'skill-run' || run.kind === 'skill-command') return (run.kind === 'skill-run' && held !== undefined && unixSockets !== true && usesOffice.test(message) ? officeHint : undefined) ?? skillHint(message, held, run.kind === 'skill-run')
  if (held?.includes('write_files') === false && refusedWrite.test(message)) return 'The tool may not write: "write_files" in its "permissions" lets it write to the workspace.'
  if (network !== undefined && noNetwork.test(message)) return 'The tool reaches the hosts of its "network" alone, through a proxy that HTTPS_PROXY names (docs/egress.md).'
  if (held?.includes('network') === false && noNetwork.test(message)) return 'The tool has no network: "network" in its "permissions" gives it one.'
  if (isServer && held !== undefined && refusedWrite.test(message)) return 'The server may write to its working directory and to /tmp alone: an argument or a variable of its "mcp" entry may name a place there.'
  const hasNone = network === undefined && held?.includes('network') === false
  if (isServer && hasNone && code === 'TOOL_UNAVAILABLE' && fetchingPrograms.has(basename(server.program))) return `${basename(server.program)} fetches the server from the network at each start, and has none: install the server and name its program as "command", or write "permissions": ["network"].`
  const unseen = isServer && held !== undefined ? unseenFile(message, server) : undefined
  if (unseen !== undefined) return unseen
  const variable = missingVariable.map(pattern => pattern.exec(message)?.[1]).find(name => name !== undefined)
  if (variable === undefined || always.includes(variable) || isSecretVariable(variable)) return undefined
  const isGiven = isServer && Object.values(server.env).some(text => typeof text !== 'string' && 'setting' in text && text.setting === variable)
  if (isGiven) return `Its "mcp" entry takes ${variable} from the workers: put the value into their environment, and start them again.`
  if (isServer) return `If ${variable} is an environment variable: the server gets those alone that "env" of its "mcp" entry gives it.`
  if (run.kind !== 'command') return `If ${variable} is an environment variable: tools of this kind get none but PATH, HOME and LANG. Give it as a parameter${run.kind === 'python' ? ' or in "config"' : ''}.`
  if (run.envPassthrough.includes(variable)) return undefined
  return `If ${variable} is an environment variable: the tool gets those alone that "envPassthrough" of its manifest entry names.`
}

function reachedLimit (message: string, limits: Tool['limits'] = {}, run: Tool['run']): string | undefined {
  // The kernel ends what needs more than the control group of a call has, which a tool gets by a bound of its own.
  const name = limits.memoryBytes !== undefined && killed.test(message) ? 'memoryBytes' : reachedLimits.find(([, pattern]) => pattern.test(message))?.[0]
  if (name === undefined) return undefined
  const now = { ...boxLimitsOf({ run }), ...limits }
  const others = dotnetShortage.test(message) ? ` Programs of .NET say this of "openFiles" too, which is ${now.openFiles} now.` : ''
  return `Where this is a limit of its box: "${run.kind === 'python' ? snakeCase(name) : name}" in the "limits" of its manifest entry is ${now[name]} now.${others}`
}

/** A program elsewhere on the machine is shown to its box, but no file that an argument names. */
function unseenFile (message: string, { program, args }: { program: string, args: readonly string[] }): string | undefined {
  const file = notFound.test(message) ? [...args, program].find(word => isAbsolute(word) && message.includes(word)) : undefined
  return file && `Where there is such a file: the box shows the server its program, with the packages or the installation around it, and tools/ beside the manifest. Put ${file} and what it needs into tools/, or install it as a package and name its node_modules/.bin/NAME as "command".`
}

/** Manifests of Python tools write `cpu_sec`. */
function snakeCase (name: string): string {
  return name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

const officeHint = 'LibreOffice waits for a Unix socket: {"skill": NAME, "unixSockets": true} in a manifest of the operator lets the skill have one.'

/** The operator's entry about a skill says what it may do. */
function skillHint (message: string, held: readonly Permission[] | undefined, hasOverlay: boolean): string | undefined {
  if (held?.includes('write_files') === false && refusedWrite.test(message)) return 'The skill may not write to the workspace: {"skill": NAME, "permissions": ["write_files"]} in a manifest of the operator lets it.' + (hasOverlay ? ' Beside its scripts it may write with "overlay": true.' : '')
  if (hasOverlay && refusedWrite.test(message)) return 'The directory of the skill is read-only: write to the working directory. {"skill": NAME, "overlay": true} in a manifest of the operator lets its scripts write beside themselves.'
  if (held?.includes('network') === false && noNetwork.test(message)) return 'The skill has no network: {"skill": NAME, "permissions": ["network"]} in a manifest of the operator gives it one.'
  return undefined
}
