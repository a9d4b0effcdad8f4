import fc from 'fast-check'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { createFixture, type Fixture } from '../executors/fixture.ts'
import { untilLate } from '../support/until-late.ts'
import { anyCharacter } from '../support/any-character.ts'

const secret = 'the secret of the outside'

/** Names that meet each other, and others that could be taken for something. */
const names = ['a', 'b', 'dir', 'file', '..', '.', '..hidden', '...', ' ', '~', '%2e%2e', '\\..', 'é', '-', 'workspace', 'proc', 'self', 'root', 'outside', 'secret']
const name = fc.constantFrom(...names)
const relativePath = fc.array(name, { minLength: 1, maxLength: 6 }).map(parts => parts.join('/'))
const path = fc.oneof(
  relativePath,
  relativePath.map(each => `/${each}`),
  fc.string({ unit: anyCharacter, maxLength: 30 }),
  fc.tuple(relativePath, fc.constantFrom('\0', '/', '//', '/.', '/..', '\n')).map(parts => parts.join('')),
  fc.constantFrom('/proc/self/cwd/secret', '/proc/self/cwd/../outside/secret', '/etc/passwd', '../outside/secret', 'dir/../../outside/secret', '/dev/fd/0')
)

/** Files, directories and links to anywhere, put into the workspace before a call. */
const layout = fc.array(fc.oneof(
  fc.record({ kind: fc.constant('file' as const), at: relativePath }),
  fc.record({ kind: fc.constant('directory' as const), at: relativePath }),
  fc.record({ kind: fc.constant('link' as const), at: relativePath, target: fc.oneof(relativePath, fc.constantFrom('OUTSIDE', 'OUTSIDE/secret', 'OUTSIDE/new', '../outside', '../outside/secret', '/', '..', '/proc/self/cwd', 'WORKSPACE/a', 'WORKSPACE/../outside')) })
), { maxLength: 8 })

type Layout = typeof layout extends fc.Arbitrary<infer Entries> ? Entries : never

const calls = fc.oneof(
  fc.record({ jobType: fc.constant('data.file_read'), args: fc.record({ path, max_bytes: fc.integer(), start_line: fc.option(fc.integer(), { nil: undefined }), max_lines: fc.option(fc.integer(), { nil: undefined }), start_byte: fc.option(fc.integer(), { nil: undefined }) }) }),
  fc.record({ jobType: fc.constant('data.write_file'), args: fc.record({ path, mode: fc.constantFrom('replace', 'append', 'prepend', 'insert_at', 'replace_range', 'edit'), content: fc.string({ maxLength: 20 }), start: fc.integer(), end: fc.integer(), offset: fc.integer(), start_line: fc.option(fc.integer(), { nil: undefined }), old_text: fc.constantFrom('s', 'x'), new_text: fc.string({ maxLength: 5 }), create_if_missing: fc.boolean(), mkdir_p: fc.boolean() }) }),
  fc.record({ jobType: fc.constant('tools.file_search'), args: fc.record({ query: fc.constantFrom('s', 'e', 'secret'), path, include_hidden: fc.boolean() }) }),
  fc.record({ jobType: fc.constant('tools.find_in_files'), args: fc.record({ query: fc.constant('secret of'), path, include_hidden: fc.boolean(), files: fc.array(path, { maxLength: 2 }) }) }),
  fc.record({ jobType: fc.constantFrom('workspace.list', 'workspace.stat'), args: fc.record({ path }) }),
  fc.record({ jobType: fc.constant('workspace.move'), args: fc.record({ from: path, to: path, overwrite: fc.boolean(), mkdir_p: fc.boolean() }) }),
  fc.record({ jobType: fc.constant('workspace.delete'), args: fc.record({ path, recursive: fc.boolean() }) })
)

function lay (workspace: string, entries: Layout): void {
  for (const entry of entries) {
    const at = join('/', entry.at).slice(1)
    const file = join(workspace, at)
    try {
      // A layout never writes through its own links.
      if (at === '' || !staysInside(workspace, dirname(at))) continue
      mkdirSync(dirname(file), { recursive: true })
      if (entry.kind === 'file') writeFileSync(file, 'inside', { flag: 'wx' })
      else if (entry.kind === 'directory') mkdirSync(file)
      else symlinkSync(entry.target.replace('OUTSIDE', join(workspace, '../outside')).replace('WORKSPACE', workspace), file)
    } catch {}
  }
}

function staysInside (workspace: string, way: string): boolean {
  let at = workspace
  for (const part of way.split('/')) {
    at = join(at, part)
    if (existsSync(at) && lstatSync(at).isSymbolicLink()) return false
  }
  return true
}

/** Every entry below a directory, with what files hold. */
function snapshot (directory: string, except: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap(entry => {
    const file = join(directory, entry.name)
    if (file === except) return []
    if (entry.isDirectory()) return [file, ...snapshot(file, except)]
    return [`${file} ${entry.isSymbolicLink() ? readlinkSync(file) : readFileSync(file, 'utf8')}`]
  }).sort()
}

function makeOutside (fixture: Fixture, workspace = fixture.workspace): string {
  const outside = join(workspace, '../outside')
  mkdirSync(outside, { recursive: true })
  writeFileSync(join(outside, 'secret'), secret)
  return dirname(fixture.workspace)
}

for (const inSession of [false, true]) {
  t.test(`B29 property: no path, link layout or range reads or writes outside of the ${inSession ? 'session' : 'workspace'}`, async t => {
    const fixture = createFixture(t, { builtins: { workspaceDelete: true } })
    const workspace = inSession ? join(fixture.workspace, '../sessions/one') : fixture.workspace
    const place = inSession ? { session: { id: 'one', dir: workspace } } : {}
    const base = makeOutside(fixture, workspace)
    if (inSession) writeFileSync(join(fixture.workspace, 'secret'), secret)
    const before = snapshot(base, workspace)
    const sequences = fc.array(calls, { minLength: 1, maxLength: 4 })
    await fc.assert(fc.asyncProperty(layout, sequences, untilLate(40_000, async (entries, sequence) => {
      rmSync(workspace, { recursive: true, force: true })
      mkdirSync(workspace)
      lay(workspace, entries)
      for (const { jobType, args } of sequence) {
        const answer = JSON.stringify(await fixture.runBuiltin(jobType, args, place))
        if (answer.includes(secret) || /root:x:0/.test(answer)) throw new Error(`read outside: ${answer}`)
      }
      const after = snapshot(base, workspace)
      if (JSON.stringify(after) !== JSON.stringify(before)) throw new Error(`wrote outside: ${JSON.stringify(after)}`)
    })), { numRuns: 250 })
    t.pass('nothing left it')
  })
}

/** Renames; what a call made at the target meanwhile goes away. */
function putInPlace (from: string, to: string): void {
  for (;;) {
    try {
      renameSync(from, to)
      return
    } catch {
      rmSync(to, { recursive: true, force: true })
    }
  }
}

for (const [jobType, args] of [
  ['data.file_read', { path: 'dir/secret' }],
  ['data.write_file', { path: 'dir/new', content: 'x', create_if_missing: true }],
  ['data.write_file', { path: 'dir/deep/new', content: 'x', create_if_missing: true, mkdir_p: true }],
  ['tools.find_in_files', { query: 'secret of', path: 'dir' }],
  ['workspace.move', { from: 'loose', to: 'dir/loose', overwrite: true }],
  ['workspace.delete', { path: 'dir/victim', recursive: true }]
] as const) {
  t.test(`B29 fault 15 a link that is swapped in while ${jobType} runs leads nowhere (${Object.values(args).join(' ')})`, async t => {
    const fixture = createFixture(t, { builtins: { workspaceDelete: true } })
    const base = makeOutside(fixture)
    mkdirSync(join(base, 'outside/victim'))
    writeFileSync(join(base, 'outside/victim/file'), secret)
    const before = snapshot(base, fixture.workspace)
    const [dir, aside, link] = ['dir', 'aside', 'link'].map(each => join(fixture.workspace, each)) as [string, string, string]
    mkdirSync(dir)
    symlinkSync('../outside', link)
    const swapping = { on: true }
    const swaps = (async () => {
      while (swapping.on) {
        renameSync(dir, aside)
        putInPlace(link, dir)
        await new Promise(resolve => setImmediate(resolve))
        renameSync(dir, link)
        putInPlace(aside, dir)
        await new Promise(resolve => setImmediate(resolve))
      }
    })()
    const rounds = jobType === 'tools.find_in_files' ? 15 : 150
    for (let round = 0; round < rounds; round++) {
      writeFileSync(join(fixture.workspace, 'loose'), 'x')
      const answer = JSON.stringify(await fixture.runBuiltin(jobType, args))
      if (answer.includes(secret)) t.fail(`read outside: ${answer}`)
    }
    swapping.on = false
    await swaps
    t.same(snapshot(base, fixture.workspace), before)
  })
}
