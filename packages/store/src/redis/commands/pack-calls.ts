/** For a script in one of its calls: the places of its keys among all keys, from 1 on, and its arguments. */
interface PackedCall {
  /** Below 65,536. */
  keys: readonly number[]
  args: ReadonlyArray<string | Buffer>
}

/** MessagePack's first bytes: two elements; a list, a number and a text with 2, 2 and 4 bytes of length or value behind. */
const [pair, list16, uint16, text32] = [0x92, 0xdc, 0xcd, 0xdb] as const

/**
 * Packs calls for `cmsgpack.unpack` in Lua: a list of pairs, the keys and the arguments. Each argument becomes a text,
 * which in Lua may hold any bytes; Redis doesn't know MessagePack's own type for these.
 */
export function packCalls (calls: readonly PackedCall[]): Buffer {
  let length = 3
  for (const { keys, args } of calls) {
    length += 7 + 3 * keys.length + 5 * args.length
    for (const arg of args) length += Buffer.byteLength(arg)
  }
  const packed = Buffer.allocUnsafe(length)
  let at = list(packed, 0, calls.length)
  for (const { keys, args } of calls) {
    at = packed.writeUInt8(pair, at)
    at = list(packed, at, keys.length)
    for (const key of keys) {
      packed[at] = uint16
      at = packed.writeUInt16BE(key, at + 1)
    }
    at = list(packed, at, args.length)
    for (const arg of args) {
      packed[at] = text32
      const written = typeof arg === 'string' ? packed.write(arg, at + 5) : arg.copy(packed, at + 5)
      at = packed.writeUInt32BE(written, at + 1) + written
    }
  }
  return packed
}

function list (packed: Buffer, at: number, length: number): number {
  packed[at] = list16
  return packed.writeUInt16BE(length, at + 1)
}
