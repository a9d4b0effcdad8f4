import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parse } from 'dotenv'
import { errorCode } from '@toolyard/contract/terms'
import { SettingsError, variables } from './settings.ts'

/** One assignment as dotenv takes it, over several lines where a value in quotes goes on. */
const assignment = /^\s*(?:export\s+)?[\w.-]+(?:\s*=\s*?|:\s+?)(?:\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|[^#\n]+)?\s*(?:#.*)?$/mg

/** A value that begins with a quote, which is never closed: dotenv takes the quote for a part of it. */
const openQuote = /^(["'`])(?:(?!\1)[^])*$/

/**
 * What a shell would fill in, and dotenv leaves as it is: a secret would be the text of its own command. A password may have a `$` in
 * it: `$NAME` alone is taken for a variable where it is all of the value, in large letters.
 */
const forShell = /\$\([^)]+\)|\$\{[A-Za-z_]\w*(?:[:?+-][^}]*)?\}|(?:^|,)\s*(?:~|\$[A-Za-z_]\w*)\/|^(?:~|\$[A-Z_][A-Z0-9_]*)$/

/** For clients; no other variable of Toolyard's own is meant to be in a file. */
const ofClients = ['TOOLYARD_URL', 'TOOLYARD_API_KEY', 'TOOLYARD_NO_INSTALL']
/** Read by the libraries of OpenTelemetry themselves. */
const ofTraces = /^OTEL_(?:SERVICE_NAME|RESOURCE_ATTRIBUTES|TRACES_SAMPLER(?:_ARG)?|(?:EXPORTER_OTLP|BSP|SPAN)_\w+)$/
/** These decide which code a program runs, and where it looks for its files: from the environment alone. */
const steering = /^(?:PATH|HOME|IFS|ENV|BASH_ENV|SHELLOPTS|(?:LD|DYLD)_\w+|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NODE_(?:OPTIONS|PATH|EXTRA_CA_CERTS|TLS_REJECT_UNAUTHORIZED)|PYTHON[A-Z]+|PERL5\w+|RUBY(?:OPT|LIB)|OPENSSL_(?:CONF|MODULES|ENGINES)|SSL_CERT_(?:FILE|DIR))$/

/**
 * Reads `.env` in the working directory. Only settings get into `process.env`, where a variable that is set already wins:
 * whoever has left a file in a directory decides nothing about the programs that run there.
 *
 * @returns `process.env`, and of the file also what tools may ask for by name. No process is given it as a whole.
 * @throws SettingsError for a file that is there and can't be read: a service without its settings may do more than it
 *   should.
 */
export function loadEnvFile (file = '.env'): NodeJS.ProcessEnv {
  const text = readEnvFile(resolve(file))
  const given = Object.entries(text === undefined ? {} : parse(text)).filter(([name]) => process.env[name] === undefined)
  for (const [name, value] of given) if (isSettingName(name)) process.env[name] = value
  return { ...Object.fromEntries(given.filter(([name]) => !steering.test(name))), ...process.env }
}

/** Whether a variable is a setting, the path of a setting's file, or what clients are told. */
export function isSettingName (name: string): boolean {
  return Object.hasOwn(variables, name.replace(/_FILE$/, '')) || Object.hasOwn(variables, name) || ofClients.includes(name) || ofTraces.test(name)
}

/**
 * The values of an environment file, and a warning for each line that sets nothing and is no remark, for each variable that
 * isn't taken from a file, for each quote that is never closed, and for each setting that only a shell would fill in.
 */
interface EnvFile {
  values: Readonly<Record<string, string>>
  /** Without a text of the file: it may be a secret. */
  warnings: string[]
}

export function inspectEnvFile (file = '.env'): EnvFile {
  const path = resolve(file)
  const text = readEnvFile(path)?.replace(/\r\n?/g, '\n') ?? ''
  const values = parse(text)
  const rest = text.replace(assignment, taken => taken.replace(/[^\n]/g, ''))
  const steered = Object.keys(values).filter(name => steering.test(name))
    .map(name => `${name} in ${path} has no effect: it says how programs run. Set it in the environment that starts Toolyard`)
  const open = Object.keys(values).filter(name => openQuote.test(values[name] ?? ''))
    .map(name => `${name} in ${path} begins with a quote that is never closed, so the quote is a part of its value: close it, or take it out`)
  const unfilled = Object.keys(values).filter(name => isSettingName(name) && forShell.test(values[name] ?? ''))
    .map(name => `${name} in ${path} is written for a shell, which does not read this file: write the value itself in place of $(...), \${...}, $NAME or ~`)
  return { values, warnings: [...steered, ...open, ...unfilled, ...emptyLines(rest, path)] }
}

function emptyLines (rest: string, path: string): string[] {
  return rest.split('\n').flatMap((line, at) => /^\s*(?:#|$)/.test(line)
    ? []
    : [`${path}:${at + 1} sets nothing: write NAME=value, or put # before a remark`])
}

function readEnvFile (path: string): string | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = errorCode(error)
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new SettingsError([`${path} can't be read (${String(code)}): let this user read it, or start in a directory that has none`])
  }
  if (text.includes('\0')) throw new SettingsError([`${path} isn't a text in UTF-8: save it as one`])
  return text
}
