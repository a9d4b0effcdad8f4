// One tool call: arguments as one JSON object on stdin, a line of JSON on stdout, or a line with the error on stderr.
import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { resolve, sep } from 'node:path'

/**
 * Answers the call with what `run` returns for its arguments. What `run` throws is printed as `{"error": message}`, and
 * the exit code is 1.
 */
export async function answer (run) {
  try {
    console.log(JSON.stringify(await run(await readArguments())))
  } catch (error) {
    console.error(JSON.stringify({ error: error.message }))
    process.exitCode = 1
  }
}

/**
 * Opens a file of the workspace, which is the working directory, and returns what `read(handle, bytes)` returns.
 * A path that leads out of the workspace is refused, also by way of a symbolic link.
 */
export async function readWorkspaceFile (path, read) {
  const handle = await open(await workspacePath(path), constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw new Error(`path is not a file: ${path}`)
    return await read(handle, stats.size)
  } finally {
    await handle.close()
  }
}

/** Reads a text file of the workspace as UTF-8; one that is larger than `maxBytes` is refused. */
export function readWorkspaceText (path, maxBytes) {
  return readWorkspaceFile(path, async (handle, bytes) => {
    if (bytes > maxBytes) throw new Error(`file is larger than ${maxBytes} bytes: ${path}`)
    return utf8(await handle.readFile(), path)
  })
}

async function readArguments () {
  const chunks = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  const text = Buffer.concat(chunks).toString().trim()
  const args = parse(text === '' ? '{}' : text)
  if (typeof args !== 'object' || args === null || Array.isArray(args)) throw new Error('arguments must be a JSON object')
  return args
}

function parse (text) {
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('arguments must be a JSON object')
  }
}

async function workspacePath (path) {
  if (typeof path !== 'string' || path.trim() === '' || path.includes('\0')) throw new Error('path is required')
  const root = await realpath('.')
  // Before the file system is asked, so that the answer doesn't tell what exists outside.
  refuseOutside(root, resolve(root, path), path)
  const real = await realpath(path).catch(error => { throw new Error(reason(error, path)) })
  refuseOutside(root, real, path)
  return real
}

function refuseOutside (root, target, path) {
  if (target !== root && !target.startsWith(root.endsWith(sep) ? root : root + sep)) throw new Error(`path escapes workspace root: ${path}`)
}

function reason (error, path) {
  return error.code === 'ENOENT' || error.code === 'ENOTDIR' ? `file not found: ${path}` : `file cannot be read (${error.code}): ${path}`
}

function utf8 (bytes, path) {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error(`file is not UTF-8 text: ${path}`)
  }
}
