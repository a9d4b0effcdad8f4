import { openSandbox } from '@toolyard/executors'
import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { boxed } from '../python/fixture.ts'

const skip = boxed.skip
const hosts = join(import.meta.dirname, '../../../packages/executors/python')
const realBubblewrap = spawnSync('sh', ['-c', 'command -v bwrap'], { encoding: 'utf8' }).stdout.trim()
t.setTimeout(180_000)

/** A bubblewrap whose arguments go through lines of Python first: they change the list `args`. */
function alteredBubblewrap (t: Test, change: string): string {
  const directory = temporaryDirectory(t)
  const file = join(directory, 'bwrap')
  writeFileSync(file, `#!/usr/bin/python3 -I\nimport os, sys\nargs = sys.argv[1:]\ndef change():\n    pass\n${indented(change)}\nif "--chdir" in args: change()\nos.execv(${JSON.stringify(realBubblewrap)}, ["bwrap", *args])\n`)
  chmodSync(file, 0o755)
  return directory
}

function indented (text: string): string {
  return text.split('\n').map(line => `    ${line}`).join('\n')
}

function temporaryDirectory (t: Test): string {
  const directory = mkdtempSync(join(tmpdir(), 'toolyard-canaries-'))
  t.teardown(() => { rmSync(directory, { recursive: true, force: true }) })
  return directory
}

/** Shows hosts their code with other lines in the place of some; `more` changes their arguments too. */
function alteredHosts (t: Test, edits: ReadonlyArray<readonly [file: string, from: string, to: string]>, more = ''): string {
  const copy = join(temporaryDirectory(t), 'python')
  cpSync(hosts, copy, { recursive: true })
  for (const [file, from, to] of edits) {
    const path = join(copy, 'toolyard/_host', file)
    const text = readFileSync(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
    writeFileSync(path, text.replace(from, to))
  }
  return `if ${JSON.stringify(hosts)} in args: at = args.index("--chdir"); args[at:at] = ["--ro-bind", ${JSON.stringify(copy)}, ${JSON.stringify(hosts)}]; ${more}`
}

/** The gaps of a sandbox that is opened with such a bubblewrap. */
async function gapsWith (
  t: Test, change: string, { hidden = [], crowd = () => {} }: { hidden?: readonly string[], crowd?: (workspaceDir: string) => void } = {}
): Promise<{ level: string, missing: string[], gaps: Record<string, string> }> {
  const base = temporaryDirectory(t)
  const workspaceDir = join(base, 'workspace')
  mkdirSync(workspaceDir)
  crowd(workspaceDir)
  const env = { ...process.env, PATH: `${alteredBubblewrap(t, change)}:${process.env['PATH']}` }
  const sandbox = await openSandbox({ mode: 'auto', env, workspaceDir, hidden, defaultPermissions: [], python: true })
  sandbox.close()
  const { report } = sandbox
  // Whether there are control groups changes nothing of the level.
  const isOfBox = (layer: string): boolean => layer !== 'cgroup'
  const gaps = report.findings.filter(({ layer, holds }) => !holds && isOfBox(layer)).map(({ layer, detail }) => [layer, detail] as const)
  return { level: report.level, missing: report.missing.filter(isOfBox), gaps: Object.fromEntries(gaps) }
}

/** Shows as a whole what is shown entry by entry, for directories whose paths match. */
const wholeAgain = (pattern: string): string => `import re
for at in range(len(args) - 1, -1, -1):
    if args[at] == "--remount-ro" and re.search(r"${pattern}", args[at + 1]): args[at:at + 2] = ["--ro-bind", args[at + 1], args[at + 1]]`

void t.test('fault 13 fault 18 a canary finds the service\'s files among programs', { skip }, async t => {
  t.match(await gapsWith(t, wholeAgain('toolyard-probe-[^/]*$')), { level: 'partial', missing: ['files'], gaps: { files: /a file of the service among programs/ } })
})

void t.test('fault 13 fault 18 a canary finds a hidden file of the service that becomes visible when it is replaced', { skip }, async t => {
  const covers = `${wholeAgain('toolyard-probe-[^/]*$')}
tools = [args[at + 1] for at, arg in enumerate(args) if arg == "--ro-bind" and re.search("toolyard-probe-[^/]*$", args[at + 1])]
at = args.index("--chdir")
for tool in tools: args[at:at] = ["--ro-bind", "/dev/null", tool + "/.env", "--ro-bind", "/dev/null", tool + "/package/settings", "--tmpfs", tool + "/data"]`
  const { gaps } = await gapsWith(t, covers)
  t.match(gaps, { files: /a file of the service among programs/ })
})

void t.test('fault 13 fault 18 a canary finds a file of the service that a link of the service leads to', { skip }, async t => {
  const shown = `for at in range(len(args) - 1, -1, -1):
    if args[at] == "--remount-ro" and os.path.exists(args[at + 1] + "/package/settings"): args[at:at] = ["--ro-bind", args[at + 1] + "/package/settings", args[at + 1] + "/package/settings"]`
  t.match((await gapsWith(t, shown)).gaps, { files: /package\/settings, a file of the service among programs/, python: /read package\/settings/ })
})

void t.test('fault 13 fault 18 a canary finds the files of the service that opens the sandbox', { skip }, async t => {
  const own = temporaryDirectory(t)
  for (const path of [own, join(own, 'file')]) {
    if (path !== own) writeFileSync(path, 'own')
    const { gaps } = await gapsWith(t, `at = args.index("--chdir"); args[at:at] = ["--ro-bind", ${JSON.stringify(path)}, ${JSON.stringify(path)}]`, { hidden: [path] })
    t.match(gaps, { files: `saw ${path}, which is the service's` })
  }
})

void t.test('fault 15 fault 18 a canary finds a search that leaves the directory that was opened', { skip }, async t => {
  const platform = process.platform
  // There, paths are looked up anew.
  Object.defineProperty(process, 'platform', { value: 'darwin' })
  try {
    t.match(await gapsWith(t, ''), { level: 'partial', gaps: { files: /a search saw a directory outside/ } })
  } finally {
    Object.defineProperty(process, 'platform', { value: platform })
  }
})

void t.test('fault 13 fault 18 the Python canary finds files of the service in its root and its workspace', { skip }, async t => {
  const { missing, gaps } = await gapsWith(t, wholeAgain('toolyard-probe-[^/]*/(root|workspace)$'))
  t.strictSame(missing, ['python'])
  for (const found of ['read .env', 'read data/queue', 'read package/second', 'read package/settings', 'read ../workspace/.env', 'read ../workspace/second', 'of the service, while it was imported']) t.match(gaps, { python: found })
})

void t.test('fault 18 the Python canary finds everything that a call without protection can do', { skip }, async t => {
  const edits = [
    ['inner_init.py', 'kernel.set_reachable(False)', 'pass'],
    ['inherited.py', 'def shut_ways_out(network: bool) -> None:', 'def shut_ways_out(network: bool) -> None:\n    return'],
    ['inner_boxes.py', 'network = 0 if self._box["network"] else kernel.NEW_NETWORK', 'network = 0'],
    ['inner_boxes.py', '(0 if box["network"] else kernel.NEW_NETWORK)', '0'],
    ['inner_boxes.py', 'filtering = [] if encoded is None else', 'filtering = [] if True else']
  ] as const
  const { level, missing, gaps } = await gapsWith(t, alteredHosts(t, edits, 'args.remove("--unshare-net")'))
  t.strictSame([level, missing], ['partial', ['python']])
  for (const found of [
    /reached mem of its first process/,
    /reached root of its first process/,
    /a directory that its import left open/,
    /reached a TCP port of the machine, while it was imported/,
    /reached a TCP port of the machine(?:,|$)(?! while)/,
    /opened a Unix socket, while it was imported/,
    /no seccomp filter is in force/
  ]) t.match(gaps, { python: found })
})

void t.test('fault 18 the Python canary finds a call that sees other calls', { skip }, async t => {
  const edit = ['inner_boxes.py', 'kernel.mounting("proc", "/proc", "proc", kernel.PROC_FLAGS)', 'kernel.mounting("tmpfs", "/dev/shm", "tmpfs", kernel.TEMPORARY_FLAGS, "size=4096")'] as const
  t.match(await gapsWith(t, alteredHosts(t, [edit])), { level: 'partial', missing: ['python'], gaps: { python: /saw \d+ processes/ } })
})

void t.test('fault 18 the canaries find nothing in a complete sandbox, also with a workspace of more entries than are searched', { skip }, async t => {
  const crowd = (workspaceDir: string): void => {
    for (let number = 0; number < 10_010; number++) writeFileSync(join(workspaceDir, String(number)), '')
  }
  t.strictSame(await gapsWith(t, '', { crowd }), { level: 'full', missing: [], gaps: {} })
})
