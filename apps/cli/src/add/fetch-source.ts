import { lstat, mkdir, readdir, readFile, realpath, copyFile, rename, chmod, rm, writeFile } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { createGunzip } from 'node:zlib'
import { mostTree, signatureFault } from '@toolyard/manifests'
import { CommandError } from '../terminal/exit-status.ts'
import { download } from './download.ts'
import { manifestOf } from './foreign-document.ts'
import { gitArchive } from './git.ts'
import type { Source } from './source.ts'
import { differs, folded, hiding, isGits, unpackInto } from './unpack.ts'

export interface SignatureCheck {
  /** A file with a signature of minisign; absent: the one beside the archive, if there is one. */
  file?: string
  keys: readonly string[]
}

/** How files begin that hold or are archives of other kinds: skills and MCP bundles are also given away as zip archives. */
const otherArchives = new Map([['504b0304', 'a zip archive'], ['fd377a58', 'compressed by xz'], ['425a6839', 'compressed by bzip2'], ['28b52ffd', 'compressed by zstd']])
/** GitHub's document has 13 MB. */
const mostDocumentBytes = 67_108_864

/**
 * Puts what a source has into an empty directory: the files of a directory or an archive, or a manifest that is made of a
 * document. What it needs meanwhile lies beside that directory.
 *
 * @param leftOut files and directories that no copy of a directory around them has
 * @returns what whoever decides must know beside what the review shows
 * @throws CommandError
 */
export async function fetchSource (
  source: Source, directory: string, check: SignatureCheck, leftOut: readonly string[]
): Promise<string[]> {
  switch (source.kind) {
    case 'directory':
      await copyTree(source.path, directory, leftOut)
      return []
    case 'git':
      await unpackInto(directory, gitArchive(source.url, source.commit, `${directory}.git`))
      return []
    case 'https': {
      const content = await download(source.url, source.sha256)
      if (check.file !== undefined) refuseSigned(content, await readFile(check.file, 'utf8'), check.keys)
      return await takeContent(content, () => Readable.from([content]), directory)
    }
    case 'file': {
      if (/^skill\.md$/i.test(basename(source.path))) throw new CommandError(`${source.path} is the text of a skill: add its directory, ${dirname(source.path)}.`, { code: 'SOURCE' })
      const beside = check.file ?? (await lstat(`${source.path}.minisig`).then(() => `${source.path}.minisig`, () => undefined))
      const head = await buffer(createReadStream(source.path, { end: mostDocumentBytes - 1 }))
      if (beside !== undefined) refuseSigned(await readFile(source.path), await readFile(beside, 'utf8'), check.keys)
      return await takeContent(head, () => createReadStream(source.path), directory)
    }
  }
}

function refuseSigned (content: Buffer, signature: string, keys: readonly string[]): void {
  const fault = signatureFault(content, signature, keys)
  if (fault !== undefined) throw new CommandError(`The signature ${fault}. Nothing was added.`, { code: 'SIGNATURE' })
}

/** An archive, compressed or not, or a document. */
async function takeContent (head: Buffer, content: () => Readable, directory: string): Promise<string[]> {
  const isGzip = head[0] === 0x1f && head[1] === 0x8b
  if (isGzip || head.toString('latin1', 257, 262) === 'ustar') {
    await unpackInto(directory, bounded(isGzip ? content().pipe(createGunzip()) : content()))
    await withoutTop(directory)
    return []
  }
  const other = otherArchives.get(head.toString('hex', 0, 4))
  if (other !== undefined) throw new CommandError(`The file is ${other}, which isn't read: unpack it, and add the directory.`, { code: 'ARCHIVE' })
  if (head.length >= mostDocumentBytes) throw new CommandError(`The file is no tar archive, and a document may have less than ${mostDocumentBytes} bytes.`, { code: 'SOURCE' })
  const { manifest, remarks } = await manifestOf(head.toString('utf8'))
  await writeFile(join(directory, 'tools.json'), manifest)
  return remarks
}

/** A compressed body may become a thousand times as large. */
async function * bounded (pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const piece of pieces) {
    bytes += piece.length
    if (bytes > 2 * mostTree.bytes) throw new Error(`has more than ${2 * mostTree.bytes} bytes when it is unpacked`)
    yield piece
  }
}

/** Archives mostly have one directory that holds everything. */
async function withoutTop (directory: string): Promise<void> {
  const [only, second] = await readdir(directory)
  if (only === undefined) throw new CommandError('The archive has no files.', { code: 'ARCHIVE' })
  if (second !== undefined || !(await lstat(join(directory, only))).isDirectory()) return
  if ((await readdir(join(directory, only))).some(name => /^skill\.md$/i.test(name))) return
  const aside = `${directory}.top`
  await rename(join(directory, only), aside)
  await rm(directory, { recursive: true })
  await rename(aside, directory)
}

/** Links that stay in the directory become what they lead to; one that leads out ends it. */
async function copyTree (from: string, to: string, leftOut: readonly string[]): Promise<void> {
  const root = await realpath(from)
  const without = await Promise.all(leftOut.map(async path => await realpath(path).catch(() => path)))
  const count = { entries: 0, bytes: 0 }
  await copyInto(root, to, 0)

  async function copyInto (directory: string, target: string, level: number): Promise<void> {
    if (level > mostTree.levels) throw new CommandError(`${directory} lies too deep, or a link leads to a directory above it.`, { code: 'SOURCE' })
    const spelled = new Map<string, string>()
    for (const name of await readdir(directory)) {
      if (isGits(name)) continue
      const path = join(directory, name)
      const other = spelled.get(folded(name))
      if (hiding.test(name)) throw new CommandError(`${JSON.stringify(path)} has letters that no name may have. Nothing was added.`, { code: 'SOURCE' })
      if (other !== undefined) throw new CommandError(`${path} ${differs(other)}. Nothing was added.`, { code: 'SOURCE' })
      spelled.set(folded(name), name)
      const real = await realpath(path).catch(() => undefined)
      if (real === undefined || !real.startsWith(root + sep)) throw new CommandError(`${path} is a link that leads out of ${from}. Nothing was added.`, { code: 'SOURCE' })
      if (without.includes(real)) continue
      const found = await lstat(real)
      const place = join(target, name)
      // Directories too: links to them may double with each level.
      count.entries += 1
      if (count.entries > mostTree.files) throw new CommandError(`${from} has more than ${mostTree.files} files and directories. Nothing was added.`, { code: 'SOURCE' })
      if (found.isDirectory()) {
        await mkdir(place, { recursive: true })
        await copyInto(real, place, level + 1)
        continue
      }
      if (!found.isFile()) throw new CommandError(`${path} is neither a file nor a directory. Nothing was added.`, { code: 'SOURCE' })
      count.bytes += found.size
      if (count.bytes > mostTree.bytes) throw new CommandError(`${from} has more than ${mostTree.bytes} bytes. Nothing was added.`, { code: 'SOURCE' })
      await mkdir(dirname(place), { recursive: true })
      await copyFile(real, place)
      await chmod(place, (found.mode & 0o100) === 0 ? 0o644 : 0o755)
    }
  }
}
