import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { repoRoot } from '../repo/source-tree.ts'

export interface Ended {
  status: number | null
  stdout: string
  stderr: string
}

/** A directory outside the checkout, with a home of its own and nothing of the settings of whoever runs the tests. */
export interface Installation {
  directory: string
  env: NodeJS.ProcessEnv
  /** Runs a line in a shell there, which blocks this process. */
  shell: (line: string, env?: NodeJS.ProcessEnv) => Ended
  /** The same, while this process goes on. */
  run: (line: string, env?: NodeJS.ProcessEnv) => Promise<Ended>
  /** Starts a line that serves; it ends with the test. */
  serve: (line: string, env?: NodeJS.ProcessEnv, cwd?: string) => Served
  remove: () => Promise<void>
}

export interface Served {
  output: () => string
  ended: () => boolean
  stop: () => Promise<void>
}

/** Makes the tarballs with `npm run pack`, which builds the Python wheel too or says why not. */
export function packTarballs (directory: string): string[] {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/pack.mjs', directory], { cwd: repoRoot, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm run pack failed: ${stderr}`)
  const printed = stdout.trim().split('\n').filter(line => /\.(tgz|whl)$/.test(line))
  const made = readdirSync(directory).map(name => join(directory, name))
  if (printed.toSorted().join() !== made.toSorted().join()) throw new Error(`it printed ${printed.join(' ')}`)
  if (!made.some(path => path.endsWith('.whl')) && !stderr.includes('The wheel was not built: ')) throw new Error('there is no wheel, and no reason')
  return made.filter(path => path.endsWith('.tgz'))
}

export function emptyDirectory (): Installation {
  const top = mkdtempSync(join(tmpdir(), 'toolyard-package-'))
  const directory = join(top, 'project')
  const home = join(top, 'home')
  for (const path of [directory, home]) mkdirSync(path)
  const npm = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^npm_config_(?!local_prefix)/i.test(name)))
  const env = { ...npm, PATH: process.env['PATH'], HOME: home, npm_config_cache: join(top, 'cache'), npm_config_update_notifier: 'false' }
  const served: Served[] = []
  return {
    directory,
    env,
    shell: (line, more = {}) => {
      const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: directory, env: { ...env, ...more }, encoding: 'utf8' })
      return { status, stdout, stderr: withoutOwnWarning(stderr) }
    },
    run: async (line, more = {}) => await new Promise(resolve => {
      execFile('sh', ['-c', line], { cwd: directory, env: { ...env, ...more } }, (error, stdout, stderr) => {
        resolve({ status: error === null ? 0 : 1, stdout, stderr: withoutOwnWarning(stderr) })
      })
    }),
    serve: (line, more = {}, cwd = directory) => {
      const one = follow(spawn('sh', ['-c', `exec ${line}`], { cwd, env: { ...env, ...more }, stdio: ['ignore', 'pipe', 'pipe'], detached: true }))
      served.push(one)
      return one
    },
    remove: async () => {
      for (const one of served) await one.stop()
      rmSync(top, { recursive: true, force: true })
    }
  }
}

function follow (child: ChildProcess): Served {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', chunk => { output += String(chunk) })
  const exited = new Promise<void>(resolve => { child.once('close', () => { resolve() }) })
  return {
    output: () => output,
    ended: () => child.exitCode !== null || child.signalCode !== null,
    stop: async () => {
      child.kill('SIGTERM')
      // It ends when nobody has its output open any more: npx ends before what it has started.
      await exited
    }
  }
}

/** Settings of the machine, which newer releases of npm don't know. They come by a file, and below `npm run` by the environment. */
function withoutOwnWarning (stderr: string): string {
  return stderr.split('\n').filter(line => !/^npm warn Unknown (user|env) config /.test(line)).join('\n')
}
