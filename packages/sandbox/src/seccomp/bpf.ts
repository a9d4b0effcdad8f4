/** One instruction of classic BPF: see `struct sock_filter` in linux/filter.h. */
export interface Instruction {
  code: number
  /** Instructions to pass over when a comparison holds, and when it doesn't. */
  ifTrue: number
  ifFalse: number
  /** The operand. */
  k: number
}

const instructionBytes = 8

/** Loads the 32-bit word at an offset of `struct seccomp_data`. */
export function load (offset: number): Instruction {
  return { code: 0x20, ifTrue: 0, ifFalse: 0, k: offset }
}

/** Keeps only the bits of `mask` in the loaded word. */
export function keepBits (mask: number): Instruction {
  return { code: 0x54, ifTrue: 0, ifFalse: 0, k: mask }
}

export function verdict (action: number): Instruction {
  return { code: 0x06, ifTrue: 0, ifFalse: 0, k: action }
}

/** Goes on with the next instruction when the loaded word equals `value`, else passes over `otherwise` of them. */
export function whenEqual (value: number, otherwise: number): Instruction {
  return { code: 0x15, ifTrue: 0, ifFalse: otherwise, k: value }
}

/** Passes over `otherwise` instructions when the loaded word equals `value`. */
export function unlessEqual (value: number, otherwise: number): Instruction {
  return { code: 0x15, ifTrue: otherwise, ifFalse: 0, k: value }
}

/** Passes over `otherwise` instructions when the loaded word is below `value`. */
export function whenAtLeast (value: number, otherwise: number): Instruction {
  return { code: 0x35, ifTrue: 0, ifFalse: otherwise, k: value }
}

/** Passes over `otherwise` instructions when the loaded word has none of the bits of `mask`. */
export function whenAnyBit (mask: number, otherwise: number): Instruction {
  return { code: 0x45, ifTrue: 0, ifFalse: otherwise, k: mask }
}

/** The program as the kernel reads it, in the byte order of x86-64 and AArch64 Linux. */
export function assemble (program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(program.length * instructionBytes)
  for (const [index, { code, ifTrue, ifFalse, k }] of program.entries()) {
    const at = index * instructionBytes
    bytes.writeUInt16LE(code, at)
    bytes.writeUInt8(ifTrue, at + 2)
    bytes.writeUInt8(ifFalse, at + 3)
    bytes.writeUInt32LE(k >>> 0, at + 4)
  }
  return bytes
}
