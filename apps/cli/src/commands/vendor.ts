import { join, resolve } from 'node:path'
import { jsonOption, textOption, type Command, type CommandLine } from '../terminal/command.ts'
import { exitStatus, misuse } from '../terminal/exit-status.ts'
import { agrees } from '../terminal/agreement.ts'
import { complain, print } from '../terminal/terminal.ts'

const place = 'What was added lies in tools/vendor of the working directory, and toolyard.lock.json there has its source and digest. Services serve it where TOOL_MANIFESTS names toolyard.lock.json.'
const asking = ['--yes', 'do it without a question'] as const

/** `toolyard add`: skills, tools and servers of others, once somebody has looked at them. */
export const add: Command = {
  name: 'add',
  summary: 'Copy skills, tools or MCP servers of others, look at them, and lock them',
  help: `Takes a directory, a tar archive (also compressed by gzip), git+https://HOST/REPOSITORY.git#COMMIT, https://...#sha256=DIGEST, an
OpenAPI document, or a file with mcpServers of another program. Shows what models would read and what may run, and asks.

${place}

On a terminal it asks before it writes. Elsewhere it writes with --yes alone. Nothing of what is added is run.

Exit status: 0 when it was added, 1 when it wasn't, 2 for a source that makes no sense.`,
  arguments: ['<source>'],
  options: [
    ['--name <name>', 'in place of the name that the source has'],
    ['--trusted', 'note it as trusted; else it is experimental'],
    ['--signature <file>', 'a signature of minisign for the archive, by a key of TRUSTED_KEYS; else FILE.minisig beside it'],
    asking, jsonOption
  ],
  run: async line => await bring(line.args[0] ?? '', textOption(line.options, 'name'), line, 'add')
}

/** `toolyard update`: the same source again, or another one. */
export const update: Command = {
  name: 'update',
  summary: 'Fetch what was added again, or another version of it',
  help: `Fetches what was added once more from its source, or from another one, such as the same repository with another commit. Shows which
files differ, what models would read and what may run, and asks. The version before it stays: toolyard rollback goes back to it.

${place}`,
  arguments: ['<name>', '[source]'],
  options: [['--trusted', 'note it as trusted; else it is experimental'], ['--signature <file>', 'a signature of minisign for the archive'], asking, jsonOption],
  run: async line => {
    const [{ entryOf, lockOf }] = await Promise.all([import('../add/vendor.ts')])
    const [name = '', source] = line.args
    const entry = entryOf(await lockOf(process.cwd()), name)
    return await bring(source ?? entry.source, name, line, 'update')
  }
}

/** `toolyard rollback`: the version before. */
export const rollback: Command = {
  name: 'rollback',
  summary: 'Go back to the version of something before its last update',
  help: `Puts the version before the last update back into toolyard.lock.json, after a check that its files are what they were.

${place}`,
  arguments: ['<name>'],
  options: [jsonOption],
  run: async ({ args: [name = ''], options }) => {
    const { rollBack } = await import('../add/vendor.ts')
    const version = await rollBack(process.cwd(), name)
    print(options['json'] === true ? JSON.stringify({ ok: true, name, ...version }, null, 2) : `${name} is ${version.path} again (${version.source})`)
  }
}

/** `toolyard remove`: out of the lock, and away. */
export const remove: Command = {
  name: 'remove',
  summary: 'Take away something that was added',
  help: `Takes something out of toolyard.lock.json, and all its versions out of tools/vendor.

${place}`,
  arguments: ['<name>'],
  options: [jsonOption],
  run: async ({ args: [name = ''], options }) => {
    const { removeEntry } = await import('../add/vendor.ts')
    await removeEntry(process.cwd(), name)
    print(options['json'] === true ? JSON.stringify({ ok: true, name }, null, 2) : `${name} is removed`)
  }
}

async function bring (source: string, name: string | undefined, { options }: CommandLine, what: 'add' | 'update'): Promise<number> {
  const [{ fileChanges, install, lockOf, withStaged }, { reviewOf }, { loadEnvFile, readSettings }] = await Promise.all([
    import('../add/vendor.ts'), import('../add/review.ts'), import('@toolyard/runtime')
  ])
  loadEnvFile()
  const { TRUSTED_KEYS: keys } = readSettings(process.env)
  const directory = process.cwd()
  const lock = await lockOf(directory)
  const signature = textOption(options, 'signature')
  const isJson = options['json'] === true
  const check = { keys, ...signature !== undefined && { file: resolve(signature) } }
  return await withStaged(directory, { source, name, check }, async staged => {
    const before = lock.entries.get(staged.name)
    if (what === 'add' && before !== undefined) throw misuse(`toolyard.lock.json has ${staged.name} already: toolyard update ${staged.name} fetches another version, --name adds it beside where it has no skills, whose names stand once.`)
    const others = new Map([...lock.entries].map(([entry, { path }]) => [entry, join(directory, path)]))
    others.delete(staged.name)
    const review = [...await reviewOf(staged.directory, others), ...staged.remarks]
    const changes = before === undefined ? [] : await fileChanges(join(directory, before.path), staged.directory)
    if (!isJson) {
      print(`${staged.name} from ${source}\n${staged.digest}`)
      for (const line of before === undefined ? review : [changes.length === 0 ? 'No file differs.' : 'Files that differ:', ...changes, ...review]) print(line)
    }
    const agreed = options['yes'] === true || (!isJson && await agrees('Take it, as it is shown here?'))
    const version = agreed ? await install(directory, staged, options['trusted'] === true ? 'trusted' : 'experimental', before) : undefined
    if (isJson) print(JSON.stringify({ ok: agreed, name: staged.name, digest: staged.digest, review, changes, ...version }, null, 2))
    else if (version === undefined) complain(`toolyard ${what}: nothing was changed; --yes does it`)
    else print(`${staged.name} is in ${version.path}, and in toolyard.lock.json`)
    return agreed ? exitStatus.done : exitStatus.failed
  })
}
