/** An entry of an archive, as a test or an attacker writes it. */
export interface ArchivePart {
  name: string | Buffer
  content?: Buffer
  type?: string
  link?: string
  /** Whether its name is in an extended header, however short. */
  isExtended?: boolean
}

/** A header with any content, whether it is true or not. */
interface HeaderFields {
  name: string | Buffer
  size?: number
  sizeField?: Buffer
  type?: string
  link?: string
}

/** A tar archive, written here by hand: no library makes what an attacker does. */
export function archiveOf (parts: readonly ArchivePart[]): Buffer {
  return Buffer.concat([...parts.map(partOf), Buffer.alloc(1_024)])
}

function partOf ({ name, content = Buffer.alloc(0), type = '0', link = '', isExtended = false }: ArchivePart): Buffer {
  const isLong = isExtended || Buffer.byteLength(name) > 100
  const header = headerOf({ name: isLong ? 'short' : name, size: content.length, type, link })
  return Buffer.concat([isLong ? paxOf({ path: String(name) }) : Buffer.alloc(0), header, padded(content)])
}

/** An extended header. */
export function paxOf (values: Record<string, string>, type = 'x'): Buffer {
  const records = Object.entries(values).map(([key, value]) => {
    const rest = Buffer.byteLength(` ${key}=${value}\n`)
    const length = [1, 2, 3, 4, 5].map(digits => rest + digits).find((sum, at) => String(sum).length === at + 1)
    return Buffer.from(`${length} ${key}=${value}\n`)
  })
  const content = Buffer.concat(records)
  return Buffer.concat([headerOf({ name: 'extended', size: content.length, type }), padded(content)])
}

export function headerOf ({ name, size = 0, sizeField, type = '0', link = '' }: HeaderFields): Buffer {
  const block = Buffer.alloc(512)
  Buffer.from(name).copy(block, 0, 0, 100)
  block.write('0000644\x000000000\x000000000\0', 100, 'latin1')
  if (sizeField === undefined) block.write(size.toString(8).padStart(11, '0'), 124)
  else sizeField.copy(block, 124)
  block.write('00000000000', 136)
  block.write(`        ${type}${link}`, 148)
  block.write('ustar\x0000', 257, 'latin1')
  block.write(`${block.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}

function padded (content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((512 - content.length % 512) % 512)])
}
