import { basename } from 'node:path'
import type { Files } from '@toolyard/client'
import { jsonOption, textOption, type Command, type CommandLine, type RunCommand } from '../terminal/command.ts'
import { complain, print } from '../terminal/terminal.ts'
import { numberOption } from './sessions.ts'
import { asking, clientOf } from './target.ts'
import { readLocal, writeLocal } from './transfer.ts'

const sessionOption = ['--session <id>', 'files of this session; without it, of the shared workspace, for keys without a tenant'] as const

const list: Command = {
  name: 'list',
  summary: 'List a directory',
  help: 'Lists what is in a directory by name: kind, bytes, time and path. Without a path it is the top.',
  arguments: ['[path]'],
  options: [sessionOption, ['--limit <n>', '1 to 1000 (default: 200)'], ['--cursor <cursor>', 'the next_cursor of the page before'], jsonOption],
  run: withFiles(async (files, { args: [path = ''], options }) => {
    const page = await files.list(path, { limit: numberOption(options, 'limit'), cursor: textOption(options, 'cursor') })
    const rows = page.entries.map(({ type, size, modified_at: at, path }) => `${type.padEnd(9)}  ${String(size).padStart(12)}  ${at}  ${inLine(path)}`)
    if (options['json'] === true) print(JSON.stringify(page, null, 2))
    else print([...rows, ...typeof page.next_cursor !== 'string' ? [] : [`More: --cursor ${page.next_cursor}`], ...rows.length === 0 ? ['No files'] : []].join('\n'))
  })
}

/** A tool may give a file a name with line breaks, which would pass for further files. */
function inLine (path: string): string {
  return path.replace(/[\n\t]/g, found => found === '\n' ? '\\n' : '\\t')
}

const put: Command = {
  name: 'put',
  summary: 'Put a file',
  help: `Puts a file of this machine, or stdin with -, in its place as a whole; directories that are missing are made. Without a path it
gets the name that it has here.`,
  arguments: ['<file>', '[path]'],
  options: [sessionOption, jsonOption],
  run: withFiles(async (files, { args: [file = '-', path = basename(file)], options }) => {
    const put = await files.put(path, await readLocal(file))
    print(options['json'] === true ? JSON.stringify({ ok: true, file: put }, null, 2) : `${put.path}  ${put.size} bytes  sha256 ${put.sha256}`)
  })
}

const get: Command = {
  name: 'get',
  summary: 'Get a file',
  help: 'Writes a file to this machine when it has come as a whole, or to stdout with -. Without a second argument it has its own name, here.',
  arguments: ['<path>', '[file]'],
  options: [sessionOption, jsonOption],
  run: withFiles(async (files, { args: [path = '', file = basename(path)], options }) => await receive(await files.get(path), file, options))
}

const rm: Command = {
  name: 'rm',
  summary: 'Remove a file or a directory',
  help: 'Removes a file, a link itself or an empty directory; with -r all that is in it.',
  arguments: ['<path>'],
  options: [sessionOption, ['-r, --recursive', 'a directory with all that is in it'], jsonOption],
  run: withFiles(async (files, { args: [path = ''], options }) => {
    await files.remove(path, { recursive: options['recursive'] === true })
    print(options['json'] === true ? JSON.stringify({ ok: true, path }) : `Removed ${path}`)
  })
}

const archive: Command = {
  name: 'archive',
  summary: 'Get a directory as a tar archive',
  help: 'Writes all of a directory, or without a path of the whole workspace, as a tar archive to a file of this machine, or to stdout with -.',
  arguments: ['<file>', '[path]'],
  options: [sessionOption, jsonOption],
  run: withFiles(async (files, { args: [file = '-', path = ''], options }) => await receive(await files.getArchive(path), file, options))
}

const unpack: Command = {
  name: 'unpack',
  summary: 'Unpack a tar archive into a directory',
  help: 'Unpacks a tar archive of this machine, or of stdin with -, into a directory, or without a path into the top. What came before a fault stays.',
  arguments: ['<file>', '[path]'],
  options: [sessionOption, jsonOption],
  run: withFiles(async (files, { args: [file = '-', path = ''], options }) => {
    const unpacked = await files.putArchive(path, await readLocal(file))
    print(options['json'] === true ? JSON.stringify({ ok: true, archive: unpacked }, null, 2) : `${unpacked.files} files, ${unpacked.directories} directories, ${unpacked.bytes} bytes in ${unpacked.path}`)
  })
}

/** `toolyard files`: files of a session, or of the shared workspace. */
export const files: Command = {
  name: 'files',
  summary: 'List, put, get and remove files, and archives of them',
  help: `Files of a session, or of the shared workspace, of the service at TOOLYARD_URL, else of the one of the settings. Paths are from its
top, with /.`,
  commands: [list, put, get, rm, archive, unpack]
}

/** Content on stdout is not mixed with words. */
async function receive (answer: Response, file: string, options: CommandLine['options']): Promise<void> {
  const bytes = await writeLocal(file, answer)
  if (file === '-') complain(`${bytes} bytes`)
  else print(options['json'] === true ? JSON.stringify({ ok: true, file, bytes }) : `${file}  ${bytes} bytes`)
}

function withFiles (act: (files: Files, given: CommandLine) => ReturnType<RunCommand>): RunCommand {
  return asking(async (target, given) => {
    const client = clientOf(target)
    const session = textOption(given.options, 'session')
    return await act(session === undefined ? client.files : client.sessions.files(session), given)
  })
}
