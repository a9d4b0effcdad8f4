#!/usr/bin/env node
// file_hash: the digest of a workspace file, of any size. Arguments: {"path"}, {"algorithm"}.
import { createHash } from 'node:crypto'
import { answer, readWorkspaceFile } from './lib/call.mjs'

const algorithms = ['sha256', 'sha512', 'sha1', 'md5']

await answer(({ path, algorithm = 'sha256' }) => {
  if (!algorithms.includes(algorithm)) throw new Error(`algorithm must be one of: ${algorithms.join(', ')}`)
  return readWorkspaceFile(path, async handle => {
    const hash = createHash(algorithm)
    let bytes = 0
    for await (const chunk of handle.createReadStream({ autoClose: false })) {
      hash.update(chunk)
      bytes += chunk.length
    }
    return { path, algorithm, hash: hash.digest('hex'), bytes }
  })
})
