import { existsSync, promises, readFileSync, readlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import type { FileHandle } from 'node:fs/promises'
import { basename } from 'node:path'

/*
 * Preloaded by a process, it plays a file system that has no room: few machines let a test set a quota. While the file
 * NO_ROOM_FILE is there, writing below NO_ROOM_BELOW fails as it says: `{code, at}`, where `at` is `write` for the content of all
 * files, or the name of a directory that can't be made.
 */

const { NO_ROOM_FILE: file = '', NO_ROOM_BELOW: below = '' } = process.env
const { mkdir, open } = promises
const nothing = await open('/dev/null')
const handles = Object.getPrototypeOf(nothing) as FileHandle
await nothing.close()
// eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with a handle
const { writeFile } = handles

promises.mkdir = (async (path: string, options?: object) => {
  check(placeOf(path), basename(path), 'mkdir')
  return await mkdir(path, options)
}) as typeof mkdir
handles.writeFile = async function (this: FileHandle, ...content: Parameters<FileHandle['writeFile']>) {
  const path = readlinkSync(`/proc/self/fd/${this.fd}`)
  check(path, 'write', 'write')
  await writeFile.apply(this, content)
}
syncBuiltinESMExports()

function check (path: string, at: string, syscall: string): void {
  if (file === '' || !path.startsWith(below) || !existsSync(file)) return
  const said = JSON.parse(readFileSync(file, 'utf8')) as { code: string, at: string }
  if (said.at === at) throw Object.assign(new Error(`${said.code}: no room, ${syscall} '${path}'`), { code: said.code, syscall, errno: -1 })
}

/** A path that goes by way of an open directory. */
function placeOf (path: string): string {
  const [, open] = /^(\/proc\/self\/fd\/\d+)\//.exec(path) ?? []
  return open === undefined ? path : `${readlinkSync(open)}/${basename(path)}`
}
