import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { misuse } from '../terminal/exit-status.ts'

export type Source =
  | { kind: 'directory' | 'file', path: string }
  | { kind: 'git', url: string, commit: string }
  | { kind: 'https', url: string, sha256: string }

const commitPattern = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
const digestPattern = /^[0-9a-f]{64}$/

/**
 * Reads a source as people write it: a path, `git+https://host/repository.git#COMMIT`, or `https://host/file#sha256=DIGEST`.
 * A source from elsewhere names what it is, so that the same source is the same content.
 *
 * @throws CommandError that says how it must be written.
 */
export async function readSource (text: string): Promise<Source> {
  if (text === '' || text.startsWith('-') || /[\0\r\n]/.test(text)) throw misuse(`${JSON.stringify(text)} is no source: name a directory, an archive, git+https://...#COMMIT or https://...#sha256=DIGEST.`)
  if (/^git\+(?:https|ssh|file):\/\//i.test(text)) return gitSource(text.slice('git+'.length))
  if (/^(?:git@|git:|ssh:|ext::|http:|ftp:|git\+)/i.test(text)) throw misuse(`${text.split(':')[0] ?? ''} is not taken: write git+https://HOST/REPOSITORY.git#COMMIT, git+ssh://..., or https://...#sha256=DIGEST.`)
  if (/^https:\/\//i.test(text)) return httpsSource(text)
  const path = resolve(text)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory() === true) return { kind: 'directory', path }
  if (found?.isFile() === true) return { kind: 'file', path }
  throw misuse(`There is no file or directory ${text}.`)
}

function gitSource (text: string): Source {
  const [url = '', commit = ''] = text.split('#')
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  // A host or a path with a hyphen in front would be an option of a program that git starts.
  if (parsed === undefined || parsed.hostname.startsWith('-') || parsed.pathname.startsWith('/-') || parsed.username.startsWith('-')) throw misuse(`${url} is no URL of a git repository.`)
  if (!commitPattern.test(commit)) throw misuse(`Name the commit, all of its digits, behind the URL: git+${url}#COMMIT. A branch or a tag may be another commit tomorrow.`)
  return { kind: 'git', url: parsed.href, commit }
}

function httpsSource (text: string): Source {
  const [url = '', fragment = ''] = text.split('#')
  const [, sha256 = ''] = /^sha256=([0-9a-fA-F]+)$/.exec(fragment) ?? []
  if (!URL.canParse(url) || new URL(url).username !== '') throw misuse(`${url} is no URL.`)
  if (!digestPattern.test(sha256.toLowerCase())) throw misuse(`Name the SHA-256 of the file behind the URL, as sha256sum prints it: ${url}#sha256=DIGEST. For a git repository write git+${url}#COMMIT.`)
  return { kind: 'https', url, sha256: sha256.toLowerCase() }
}
