import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asError } from '@toolyard/contract/terms'
import { mostTree } from '@toolyard/manifests'
import { programPaths, runProgram } from '@toolyard/runtime/install'
import { publicAddresses } from '@toolyard/runtime/outgoing'
import { CommandError } from '../terminal/exit-status.ts'

const gitMs = 300_000
/** Bytes of the one file that a fetch writes: it is compressed, and has what git keeps beside the files. */
const packBytes = 2 * mostTree.bytes
/** Those of a repository would have git run programs (`$Format:%GG$` runs gpg), leave files out, and write others than the commit has. */
const noAttributes = '* -text !eol !ident !filter !working-tree-encoding !export-ignore !export-subst\n'
/** No hooks, helpers or settings of others, no question, and no protocol but those that are named. */
const alone = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'https:ssh:file', GIT_LFS_SKIP_SMUDGE: '1' }

/**
 * The archive of one commit of a repository, piece by piece, with the files as the commit has them. Nothing is checked out, so that
 * no filter or hook runs.
 *
 * @param directory for what git keeps meanwhile: it is made, and taken away
 * @throws CommandError where the repository has no such commit, or a URL of https leads to no public host.
 */
export async function * gitArchive (url: string, commit: string, directory: string, mostBytes = packBytes): AsyncGenerator<Buffer> {
  const [git] = await programPaths('git', process.env)
  if (git === undefined) throw new CommandError('There is no git on the PATH.', { code: 'SOURCE' })
  const network = await networkOptions(url)
  await mkdir(directory)
  try {
    const [prlimit] = await programPaths('prlimit', process.env)
    const bounded = prlimit === undefined ? [git] : [prlimit, `--fsize=${mostBytes}`, git]
    const run = async (...args: string[]): Promise<string> => {
      const [program = git, ...words] = [...bounded, '-C', directory, ...args]
      const { ok, output } = await runProgram(program, words, process.env, gitMs, alone)
      if (/died of signal 25|File too large|invalid index-pack output/.test(output)) throw new CommandError(`${url} sends more than ${mostBytes} bytes for that commit, or breaks off.`, { code: 'SOURCE' })
      if (!ok) throw new CommandError(`git can't read ${commit} of ${url}: ${output.trim().split('\n').slice(-3).join(' ')}`, { code: 'SOURCE' })
      return output.trim()
    }
    await run('init', '--quiet', '--bare')
    await run(...network, '-c', 'fetch.unpackLimit=1', 'fetch', '--quiet', '--depth', '1', '--no-tags', '--', url, commit)
    const found = await run('rev-parse', '--verify', 'FETCH_HEAD^{commit}')
    if (found !== commit) throw new CommandError(`${url} gives ${found} for ${commit}`, { code: 'SOURCE' })
    // git holds all names in memory before it writes the first one, and a few trees that name each other have billions.
    const listed = await runProgram(git, ['-C', directory, 'ls-tree', '-r', '-t', '-z', commit], process.env, gitMs, alone)
    if (!listed.ok || listed.output.split('\0').length > mostTree.files + 1) throw new CommandError(`${url} has more than ${mostTree.files} files and directories in that commit, or they can't be listed.`, { code: 'SOURCE' })
    const [, submodule] = /(?:^|\0)160000 [^\t]*\t([^\0]*)/.exec(listed.output) ?? []
    if (submodule !== undefined) throw new CommandError(`${JSON.stringify(submodule)} of ${url} is a submodule, whose files are in another repository. Clone both, and add the directory.`, { code: 'SOURCE' })
    await mkdir(join(directory, 'info'), { recursive: true })
    await writeFile(join(directory, 'info/attributes'), noAttributes)
    const child = spawn(git, ['-C', directory, 'archive', '--format=tar', commit], { env: { PATH: process.env['PATH'] ?? '', ...alone }, stdio: ['ignore', 'pipe', 'ignore'] })
    try {
      for await (const piece of child.stdout) if (piece instanceof Buffer) yield piece
    } finally {
      child.kill('SIGKILL')
    }
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

/** git connects to the addresses that were checked, without a proxy, and follows no redirect: both could lead inside. */
async function networkOptions (url: string): Promise<string[]> {
  const { protocol, hostname, port } = new URL(url)
  if (protocol !== 'https:') return []
  const addresses = await publicAddresses(hostname).catch((error: unknown) => {
    throw new CommandError(`${url} can't be read: ${asError(error).message}`, { code: 'SOURCE' })
  })
  const options = ['http.followRedirects=false', 'http.proxy=', 'http.lowSpeedLimit=1', 'http.lowSpeedTime=60']
  // An address is looked up by nobody.
  if (!hostname.startsWith('[')) options.push(`http.curloptResolve=${hostname}:${port === '' ? '443' : port}:${addresses.join(',')}`)
  return options.flatMap(option => ['-c', option])
}
