import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Outcome } from '@toolyard/executors'
import { outputOf } from '../executors/fixture.ts'
import { boxedTools, withoutBox, type BoxedTools } from '../sandbox/boxed-tools.ts'
import { waitFor } from '../support/condition.ts'
import { writeFiles } from '../support/files.ts'

const skip = await withoutBox()
t.setTimeout(120_000)

function put (base: string, path: string, text = 'SECRET=1\n'): string {
  return join(writeFiles(base, { [path]: text }), path)
}

/** A program in `tools/bin` whose box shows all of `tools`, and that names every file in there which holds a secret. */
async function seen (tools: BoxedTools, script = ''): Promise<Outcome> {
  const program = tools.program('look', `#!/bin/sh\n${script}\ngrep -rlR 'SECRE[T]=' ${join(tools.base, 'tools')} ${tools.workspace} 2>/dev/null | sort -u | sed s,${tools.base}/,,\ntrue\n`)
  return await tools.run({ program })
}

void t.test('fault 13 files of the service among the programs of tools are in no box', { skip }, async t => {
  const tools = await boxedTools(t, { hidden: ['tools/.env', 'tools/.toolyard', 'tools/.toolyard/audit', 'tools/bin/token', 'workspace/.env'] })
  const look = async (script?: string): Promise<unknown> => outputOf(await seen(tools, script))
  t.strictSame(await look(), {})
  put(tools.base, 'tools/bin/own', 'SECRET=of the tool')
  mkdirSync(join(tools.workspace, 'signals'))
  for (const path of ['tools/.env', 'tools/.env.local', 'tools/.toolyard/audit/day', 'tools/.toolyard/data', 'tools/bin/token', 'tools/bin/token~', 'workspace/.env']) put(tools.base, path)
  linkSync(join(tools.base, 'tools/.env'), join(tools.base, 'tools/bin/second'))
  symlinkSync('../.env', join(tools.base, 'tools/bin/link'))
  t.strictSame(await look(), 'tools/bin/own', 'by none of their names')
  const running = look('echo up >&2; while ! test -e signals/go; do sleep 0.02; done')
  await waitFor('the tool runs', () => tools.logged.includes('up'))
  for (const path of ['tools/.env', 'workspace/.env']) renameSync(put(tools.base, `${path}.draft`), join(tools.base, path))
  put(tools.workspace, 'signals/go', '')
  t.strictSame(await running, 'tools/bin/own', 'nor when they are replaced while a tool runs')
})

const names = ['a', 'b', '.c']
const path = fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 }).map(parts => parts.join('/'))
/** Entries by their paths: files, and links and second names of others. */
const layout = fc.array(fc.record({ path, kind: fc.constantFrom('file', 'file', 'link', 'second'), of: path }), { minLength: 1, maxLength: 10 })
const listing = `import json, os
def files(follow):
    found = []
    for top, directories, names in os.walk("tools", followlinks=follow):
        if top.count("/") > 4: directories.clear()
        paths = [f"{top}/{name}" for name in names if follow or not os.path.islink(f"{top}/{name}")]
        found += [[path, os.stat(path).st_ino] for path in paths if os.path.isfile(path)]
    return sorted(found)
print(json.dumps([files(False), files(True)]))`

void t.test('fault 13 whichever files of a directory are the service\'s, a box shows all the others and none of these', { skip }, async t => {
  // A box takes long to make on a busy machine: one shows ten layouts, each in a directory of its own.
  const directories = Array.from({ length: 10 }, (_, index) => `tools/d${index}`)
  const hidden = directories.flatMap(directory => ['a', 'b/a', 'b/.c/b', '.c'].map(name => `${directory}/${name}`))
  const tools = await boxedTools(t, { hidden })
  const program = tools.program('list', `#!/usr/bin/env python3\nimport os\nos.chdir(${JSON.stringify(tools.base)})\n${listing}\n`)
  const isHidden = ([path, inode]: Entry): boolean => hidden.some(each => isOf(join(tools.base, each), join(tools.base, path), inode))
  await fc.assert(fc.asyncProperty(fc.array(layout, { minLength: directories.length, maxLength: directories.length, size: 'max' }), async layouts => {
    for (const [index, directory] of directories.entries()) {
      rmSync(join(tools.base, directory), { recursive: true, force: true })
      for (const entry of layouts[index] ?? []) lay(join(tools.base, directory), entry)
    }
    const [shown, reached] = outputOf(await tools.run({ program })) as Entry[][]
    const [all] = JSON.parse(execFileSync('python3', ['-c', listing], { cwd: tools.base, encoding: 'utf8' })) as Entry[][]
    t.strictSame(shown, all?.filter(entry => !isHidden(entry)), `all the rest of ${JSON.stringify(layouts)}`)
    t.strictSame(reached?.filter(isHidden), [], 'and nothing hidden, by links either')
    if (!t.passing()) throw new Error('it shows something else')
  }), { numRuns: 6, endOnFailure: true })
})

type Entry = [path: string, inode: number]

function lay (base: string, { path, kind, of }: { path: string, kind: string, of: string }): void {
  const [place, other] = [join(base, path), join(base, of)]
  try {
    mkdirSync(dirname(place), { recursive: true })
    if (kind === 'file') writeFileSync(place, path, { flag: 'wx' })
    else if (kind === 'link') symlinkSync(relative(dirname(place), other), place)
    else linkSync(other, place)
  } catch {
    // The place is taken, or the other one is not there.
  }
}

function filesBelow (directory: string): number[] {
  return readdirSync(directory, { withFileTypes: true, recursive: true }).filter(entry => entry.isFile())
    .map(({ parentPath, name }) => statSync(join(parentPath, name)).ino)
}

/** Whether what is at a path is the hidden file or a file of the hidden directory, by whatever name, or lies in there. */
function isOf (hidden: string, path: string, inode: number): boolean {
  // Links may lead in circles.
  const stat = existsSync(hidden) ? statSync(hidden) : undefined
  if (stat === undefined) return false
  return stat.isDirectory() ? `${realpathSync(path)}/`.startsWith(`${realpathSync(hidden)}/`) || filesBelow(hidden).includes(inode) : stat.ino === inode
}
