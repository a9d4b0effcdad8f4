/** Width and height in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/**
 * The size of a PNG, JPEG, GIF or WebP, as its header has it; undefined where it has none that can be read, or where the image is cut:
 * providers refuse a request with such a one. Nothing is decoded.
 *
 * @param type as its first bytes say it
 */
export function sizeOfImage (bytes: Buffer, type: string): ImageSize | undefined {
  try {
    return isWhole[type]?.(bytes) === true ? readers[type]?.(bytes) : undefined
  } catch (error) {
    // The header goes on behind the end.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

const readers: Readonly<Record<string, (bytes: Buffer) => ImageSize | undefined>> = {
  'image/png': bytes => bytes.toString('latin1', 12, 16) === 'IHDR' ? { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) } : undefined,
  'image/gif': bytes => ({ width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) }),
  'image/jpeg': jpegSize,
  'image/webp': webpSize
}

/** Bytes behind the mark that ends a GIF, which may stand in its pixels too. */
const mostBehind = 8

/** Whether an image goes on to its end; more may stand behind it. */
const isWhole: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': bytes => bytes.includes('IEND'),
  'image/gif': bytes => bytes.lastIndexOf(0x3b) >= bytes.length - mostBehind,
  // A preview within it has an end of its own, before the pixels begin.
  'image/jpeg': bytes => bytes.lastIndexOf('ffd9', undefined, 'hex') > bytes.lastIndexOf('ffda', undefined, 'hex'),
  'image/webp': bytes => bytes.readUInt32LE(4) + 8 <= bytes.length + 1
}

/** Looks for the frame among the segments that come before the pixels. */
function jpegSize (bytes: Buffer): ImageSize | undefined {
  for (let at = 2; bytes.readUInt8(at) === 0xff;) {
    const marker = bytes.readUInt8(at + 1)
    // Any number of such bytes may stand before a marker.
    if (marker === 0xff) at += 1
    else if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) }
    else if (marker === 0xda || marker === 0xd9) return undefined
    else at += 2 + bytes.readUInt16BE(at + 2)
  }
  return undefined
}

/** SOF0 to SOF15, but for tables and extensions. */
function isFrame (marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
}

function webpSize (bytes: Buffer): ImageSize | undefined {
  const form = bytes.toString('latin1', 12, 16)
  if (form === 'VP8 ') return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff }
  if (form === 'VP8X') return { width: 1 + bytes.readUIntLE(24, 3), height: 1 + bytes.readUIntLE(27, 3) }
  if (form !== 'VP8L') return undefined
  const bits = bytes.readUInt32LE(21)
  return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) }
}
