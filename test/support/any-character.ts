import fc from 'fast-check'

const surrogates = { from: 0xd800, count: 0x800 }

/** Each character of Unicode. fast-check's own unit, `binary`, lists all of them before its first case, which takes a second. */
export const anyCharacter = fc.integer({ min: 0, max: 0x10_ffff - surrogates.count }).map(
  place => String.fromCodePoint(place < surrogates.from ? place : place + surrogates.count),
  text => {
    const code = typeof text === 'string' ? text.codePointAt(0) : undefined
    if (code === undefined || text !== String.fromCodePoint(code)) throw new Error('no character')
    return code < surrogates.from ? code : code - surrogates.count
  }
)
