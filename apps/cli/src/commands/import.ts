import { errorCode, withoutUndefined } from '@toolyard/contract/terms'
import type { OpenapiImport } from '@toolyard/manifests'
import { jsonOption, type Command } from '../terminal/command.ts'
import { CommandError, exitStatus, misuse } from '../terminal/exit-status.ts'
import { complain, print } from '../terminal/terminal.ts'

const openapi: Command = {
  name: 'openapi',
  summary: 'Write entries of a manifest for the operations of an OpenAPI document',
  help: `Reads an OpenAPI document of version 3.0, 3.1 or 3.2, JSON or YAML (up to 8 MiB), and prints a manifest with a tool for each
operation. "-" reads the document from stdin. What was left out, and which environment variables the workers need, is told on stderr.

An operation is named by its operationId, by "GET /path", or by the name of its tool.

Exit status: 0 when there is a tool, 1 when there is none or the document can't be used.`,
  arguments: ['<file>'],
  options: [
    ['--only <names>', 'these operations alone, comma-separated'],
    ['--tag <names>', 'operations with one of these tags alone, comma-separated'],
    ['--server <url>', 'in place of the server that the document names'],
    ['--prefix <text>', 'in front of the names of tools and of environment variables'],
    ['--out <file>', 'write the manifest to a new file'],
    jsonOption
  ],
  run: async ({ options, args: [file = ''] }) => {
    const { importOpenapi, OpenapiFault } = await import('@toolyard/manifests')
    const server = textOf(options['server'])
    if (server !== undefined && !/^https?:\/\//i.test(server)) throw misuse('--server needs an https:// or http:// URL')
    const only = listOf(options['only'])
    const tags = listOf(options['tag'])
    const prefix = textOf(options['prefix'])
    try {
      const found = await importOpenapi(await documentText(file), withoutUndefined({ only, tags, server, prefix }))
      await report(found, { out: textOf(options['out']), json: options['json'] === true })
      return found.entries.length > 0 ? exitStatus.done : exitStatus.failed
    } catch (error) {
      if (!(error instanceof OpenapiFault)) throw error
      throw new CommandError(`${file === '-' ? 'stdin' : file} ${error.message}`, { code: 'INVALID_DOCUMENT' })
    }
  }
}

/** `toolyard import`: entries of manifests from what others describe. */
export const importCommand: Command = {
  name: 'import',
  summary: 'Write manifest entries for what others describe: the operations of an OpenAPI document',
  help: 'Writes entries of a manifest for what others describe.',
  commands: [openapi]
}

interface Reporting {
  out: string | undefined
  json: boolean
}

async function report (found: OpenapiImport, { out, json }: Reporting): Promise<void> {
  const { manifestTextOf } = await import('@toolyard/manifests')
  const { entries, leftOut, notes, settings, servers } = found
  const text = manifestTextOf(found)
  if (out !== undefined && entries.length > 0) await writeNew(out, text)
  if (json) {
    const made = out === undefined ? { manifest: JSON.parse(text) as unknown } : { out }
    const needs = { settings: Object.fromEntries(settings), servers: [...servers] }
    return print(JSON.stringify({ ok: entries.length > 0, ...made, left_out: leftOut, notes, ...needs }, null, 2))
  }
  if (out === undefined && entries.length > 0) print(text.trimEnd())
  const place = out === undefined || entries.length === 0 ? '' : ` in ${out}`
  const lines = [
    `${entries.length} ${entries.length === 1 ? 'tool' : 'tools'}${place}, ${leftOut.length} left out`,
    ...leftOut.map(({ operation, because }) => ` - ${operation} ${because}`),
    ...notes.length === 0 ? [] : ['Less than the document says:', ...notes.map(({ tool, says }) => ` - ${tool}: ${says}`)],
    ...settings.size === 0 ? [] : ['Environment variables that the workers need:', ...[...settings].map(([name, says]) => ` - ${name}: ${says}`)],
    ...servers.size === 0 ? [] : ['Servers with the document\'s values for their variables; --server names another:', ...[...servers].map(each => ` - ${each}`)]
  ]
  complain(lines.join('\n'))
}

async function writeNew (file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises')
  await writeFile(file, text, { flag: 'wx' }).catch((error: unknown) => {
    const code = errorCode(error)
    if (code === 'EEXIST') throw new CommandError(`${file} is here already, and is not overwritten`, { code: 'CONFLICT' })
    throw new CommandError(`${file} can't be written: ${String(code)}`)
  })
}

async function documentText (file: string): Promise<string> {
  if (file === '-') {
    const { text } = await import('node:stream/consumers')
    return await text(process.stdin)
  }
  if (/^https?:\/\//i.test(file)) throw misuse(`the document is read from a file or from stdin: curl -sS '${file}' | toolyard import openapi -`)
  const { readFile } = await import('node:fs/promises')
  return await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(`${file} can't be read: ${String(errorCode(error))}`)
  })
}

function textOf (option: unknown): string | undefined {
  return typeof option === 'string' ? option : undefined
}

function listOf (option: unknown): string[] | undefined {
  return typeof option === 'string' ? option.split(',').map(item => item.trim()).filter(item => item !== '') : undefined
}
