import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { asError } from '@toolyard/contract/terms'
import { CommandError, misuse } from '../terminal/exit-status.ts'

/** The content of a file of this machine, or of stdin with `-`, in pieces. */
export async function readLocal (file: string): Promise<ReadableStream<Uint8Array>> {
  if (file === '-') return webStream(process.stdin)
  try {
    const handle = await open(file, 'r')
    if ((await handle.stat()).isDirectory()) {
      await handle.close()
      throw new Error('it is a directory; tar makes an archive of it, for toolyard files unpack')
    }
    return webStream(handle.createReadStream())
  } catch (error) {
    throw misuse(`${file} can't be read: ${asError(error).message}`)
  }
}

/** Writes what comes to a file of this machine when it has come as a whole, or to stdout with `-`. @returns how many bytes came */
export async function writeLocal (file: string, { body }: Response): Promise<number> {
  let bytes = 0
  const counter = new Transform({
    transform (chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      done(null, chunk)
    }
  })
  const source = body === null ? Readable.from([]) : Readable.fromWeb(body)
  if (file === '-') {
    await pipeline(source, counter, process.stdout, { end: false })
    return bytes
  }
  const part = `${file}.${randomUUID()}.part`
  try {
    await pipeline(source, counter, createWriteStream(part, { flags: 'wx' }))
    await rename(part, file)
  } catch (error) {
    await rm(part, { force: true })
    throw new CommandError(`${file} can't be written: ${asError(error).message}`)
  }
  return bytes
}

function webStream (stream: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(stream)
}
