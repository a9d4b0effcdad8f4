import t from 'tap'
import fc from 'fast-check'

type Filter = (arch: string) => Buffer | undefined
const { sandboxFilter, templateFilter } = await import(import.meta.resolve('@toolyard/sandbox').replace(/index\.js$/, 'seccomp/filter.js')) as Record<'sandboxFilter' | 'templateFilter', Filter>

const machines = {
  x64: {
    audit: 0xc000003e,
    socket: 41,
    ioSetup: 206,
    fallocate: 285,
    ioctl: 16,
    fcntl: 72,
    watch: 254,
    affinity: 203,
    setsockopt: 54,
    prctl: 157,
    seccomp: 317,
    modes: {
      chmod: [90, 1],
      fchmod: [91, 1],
      fchmodat: [268, 2],
      fchmodat2: [452, 2],
      creat: [85, 1],
      mkdir: [83, 1],
      mkdirat: [258, 2],
      mknod: [133, 1],
      mknodat: [259, 2]
    },
    creations: { open: [2, 1, 2], openat: [257, 2, 3] }
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    ioSetup: 0,
    fallocate: 47,
    ioctl: 29,
    fcntl: 25,
    watch: 27,
    affinity: 122,
    setsockopt: 208,
    prctl: 167,
    seccomp: 277,
    modes: { fchmod: [52, 1], fchmodat: [53, 2], fchmodat2: [452, 2], mkdirat: [34, 2], mknodat: [33, 2] },
    creations: { openat: [56, 2, 3] }
  }
} as const
const verdicts = {
  allowed: 0x7fff0000,
  killed: 0x80000000,
  done: 0x00050000,
  notPermitted: 0x00050001,
  notImplemented: 0x00050026,
  notSupported: 0x0005005f,
  noSuchFamily: 0x00050061,
  invalid: 0x00050016,
  noSuchProtocol: 0x0005005d,
  noSuchType: 0x0005005e
}

/** Runs a filter as the kernel does; arguments are 64 bits wide. */
function judge (filter: Buffer, audit: number, number: number, args: readonly bigint[]): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(number >>> 0, 0)
  data.writeUInt32LE(audit, 4)
  for (const [at, value] of args.entries()) data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * at)
  let word = 0
  for (let at = 0; ; at++) {
    const [code, ifTrue, ifFalse, k] = [
      filter.readUInt16LE(at * 8), filter.readUInt8(at * 8 + 2), filter.readUInt8(at * 8 + 3), filter.readUInt32LE(at * 8 + 4)
    ]
    if (code === 0x20) word = data.readUInt32LE(k)
    else if (code === 0x06) return k
    else if (code === 0x15) at += word === k ? ifTrue : ifFalse
    else if (code === 0x35) at += word >= k ? ifTrue : ifFalse
    else if (code === 0x54) word = (word & k) >>> 0
    else if (code === 0x45) at += (word & k) !== 0 ? ifTrue : ifFalse
    else throw new Error(`no such instruction: ${code}`)
  }
}

function argumentsWith (places: Record<number, bigint>): bigint[] {
  return Array.from({ length: 6 }, (_, at) => places[at] ?? 0n)
}

const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n })
const createFlags = 0x40n | 0x400000n

for (const [arch, machine] of Object.entries(machines)) {
  const { audit, modes, creations, fallocate, ioctl, fcntl, watch, affinity, setsockopt, prctl, seccomp, socket, ioSetup } = machine
  for (const [kind, filterOf] of Object.entries({ sandboxFilter, templateFilter })) {
    const filter = filterOf(arch) ?? Buffer.alloc(0)
    const verdict = (number: number, args: bigint[]): number => judge(filter, audit, number, args)

    t.test(`fault 13 the ${kind} of ${arch} refuses setuid and setgid bits in every call, and allows all other permissions`, async t => {
      fc.assert(fc.property(word, mode => {
        const expected = (mode & 0o6000n) === 0n ? verdicts.allowed : verdicts.notPermitted
        return Object.values<readonly [number, number]>(modes)
          .every(([number, at]) => verdict(number, argumentsWith({ [at]: mode })) === expected)
      }))
      fc.assert(fc.property(word, word, (flags, mode) => {
        const expected = (flags & createFlags) === 0n || (mode & 0o6000n) === 0n ? verdicts.allowed : verdicts.notPermitted
        return Object.values<readonly [number, number, number]>(creations)
          .every(([number, flagsAt, modeAt]) => verdict(number, argumentsWith({ [flagsAt]: flags, [modeAt]: mode })) === expected)
      }))
      t.equal(verdict(437, argumentsWith({})), verdicts.notImplemented, 'openat2 hides its permissions')
    })

    t.test(`fault 16 the ${kind} of ${arch} refuses space beyond the end of a file, and allows the rest of fallocate`, async t => {
      fc.assert(fc.property(word, mode => {
        const expected = (mode & 3n) === 1n ? verdicts.notSupported : verdicts.allowed
        return verdict(fallocate, argumentsWith({ 1: mode })) === expected
      }))
      const requests = [0x40305828n, 0x4030582an, 0x40305839n]
      for (const request of requests) t.equal(verdict(ioctl, argumentsWith({ 1: request })), verdicts.notSupported)
    })

    t.test(`fault 17 the ${kind} of ${arch} refuses leases on files and directories`, async t => {
      for (const command of [1024n, 1040n]) t.equal(verdict(fcntl, argumentsWith({ 1: command })), verdicts.notPermitted)
    })

    t.test(`fault 13 the ${kind} of ${arch} refuses to tell who reads files and directories, and allows to watch changes`, async t => {
      fc.assert(fc.property(word, mask => {
        const expected = (mask & 0x31n) === 0n ? verdicts.allowed : verdicts.notPermitted
        return verdict(watch, argumentsWith({ 2: mask })) === expected
      }))
      t.equal(verdict(fcntl, argumentsWith({ 1: 1026n })), verdicts.notPermitted, 'F_NOTIFY')
    })

    t.test(`fault 13 the ${kind} of ${arch} lets sockets of IP through, for usual types and protocols, and none of another family`, async t => {
      const [families, types, protocols] = [[2n, 10n], [1n, 2n, 3n], [0n, 1n, 6n, 17n, 58n, 262n]]
      const known = (values: bigint[]): fc.Arbitrary<bigint> => fc.oneof(fc.constantFrom(...values), word)
      fc.assert(fc.property(fc.constantFrom(0n, 1n, 2n, 10n, 16n, 17n, 40n), known(types), known(protocols), (family, type, protocol) => {
        const given = verdict(socket, argumentsWith({ 0: family, 1: type | 0o2000000n, 2: protocol }))
        if (!families.includes(family)) return given === verdicts.noSuchFamily
        if (!types.includes(type & 0xfn)) return given === verdicts.noSuchType
        return given === (protocols.includes(protocol & 0xffffffffn) ? verdicts.allowed : verdicts.noSuchProtocol)
      }))
    })

    t.test(`fault 16 the ${kind} of ${arch} attaches no filter to a socket, and sets other options`, async t => {
      fc.assert(fc.property(fc.constantFrom(0n, 1n, 6n), fc.oneof(fc.integer({ min: 0, max: 80 }).map(BigInt), word), (level, option) => {
        const isFilter = level === 1n && [26n, 50n, 51n, 52n].includes(option & 0xffffffffn)
        return verdict(setsockopt, argumentsWith({ 1: level, 2: option })) === (isFilter ? verdicts.notPermitted : verdicts.allowed)
      }))
    })

    t.test(`fault 16 the ${kind} of ${arch} lets ${kind === 'templateFilter' ? 'a template put the filters of calls' : 'nobody put further filters'} in force`, async t => {
      const expected = kind === 'templateFilter' ? verdicts.allowed : verdicts.invalid
      t.equal(verdict(prctl, argumentsWith({ 0: 22n, 1: 2n })), expected)
      t.equal(verdict(seccomp, argumentsWith({ 0: 1n })), expected)
      for (const option of [4n, 15n, 36n, 38n]) t.equal(verdict(prctl, argumentsWith({ 0: option })), verdicts.allowed)
    })

    t.test(`fault 16 the ${kind} of ${arch} moves no process to another processor, and says that it did`, async t => {
      fc.assert(fc.property(word, word, (pid, mask) => verdict(affinity, argumentsWith({ 0: pid, 2: mask })) === verdicts.done))
    })

    t.test(`fault 16 the ${kind} of ${arch} knows no io_setup, whose events the kernel counts for the whole machine`, async t => {
      t.equal(verdict(ioSetup, argumentsWith({ 0: 65_536n })), verdicts.notImplemented)
    })

    t.test(`fault 17 the ${kind} of ${arch} decides every system call of every calling convention`, async t => {
      const known = Object.values(verdicts)
      fc.assert(fc.property(fc.integer({ min: 0, max: 600 }), fc.array(word, { minLength: 6, maxLength: 6 }), (number, args) =>
        known.includes(verdict(number, args))))
      for (const other of [0x40000003, 0x40000028, 0xc000003e, 0xc00000b7].filter(each => each !== audit)) {
        t.equal(judge(filter, other, 90, argumentsWith({ 1: 0o4755n })), verdicts.killed)
      }
      if (arch === 'x64') t.equal(verdict(0x40000000 + 90, argumentsWith({ 1: 0o4755n })), verdicts.notImplemented, 'x32')
    })
  }
}
