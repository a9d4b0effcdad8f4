import { assemble, keepBits, load, unlessEqual, verdict, whenAnyBit, whenAtLeast, whenEqual, type Instruction } from './bpf.ts'
import { architectures, unknownEverywhere, type Architecture } from './system-calls.ts'

const allow = verdict(0x7fff0000)
const killProcess = verdict(0x80000000)
const answer = (errno: number): Instruction => verdict(0x00050000 | errno)
/** Nothing is done, and the caller is told that it was. */
const done = answer(0)
const notPermitted = answer(1)
const notImplemented = answer(38)
const invalid = answer(22)
const noSuchFamily = answer(97)
const noSuchProtocol = answer(93)
const noSuchType = answer(94)
const notSupported = answer(95)

/** Offsets in `struct seccomp_data`. */
const at = { number: 0, architecture: 4 } as const
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; for unshare also NEWTIME, whose bit clone has for the signal. */
const newNamespaces = 0x7e020000
const newTime = 0x80
/**
 * AF_INET and AF_INET6: no Unix, vsock, packet or crypto sockets, and no netlink. The kernel counts answers of netlink that nobody reads
 * for no control group, so that a call could fill the machine's memory with them; resolvers and `getaddrinfo` do without.
 */
const families = [2, 10]
/** SOCK_STREAM, DGRAM and RAW, for IP itself, ICMP of both versions, TCP, UDP and MPTCP: for others the kernel would start `modprobe`. */
const ipTypes = [1, 2, 3]
const protocols = [0, 1, 58, 6, 17, 262]
/**
 * SO_ATTACH_FILTER, ATTACH_BPF, ATTACH_REUSEPORT_CBPF and EBPF, of SOL_SOCKET. The machine has one memory for such programs and for the
 * filters of boxes: where it is used up, no box can be made.
 */
const attachments = [26, 50, 51, 52]
const socketLevel = 1
/** PR_SET_SECCOMP and SECCOMP_SET_MODE_FILTER, for the same reason. A kernel without seccomp gives the same answer. */
const [setSeccomp, setFilter] = [22, 1]
/** CLONE_NEWNS, NEWIPC, NEWPID, NEWNET: what is new for each call of a Python tool. */
const innerNamespaces = [0x20000000, 0x00020000 | 0x08000000, 0x00020000 | 0x08000000 | 0x40000000]
const newPids = 0x20000000
/** Flags of an inner box's mounts: proc, tmpfs, devpts, and MS_BIND with MS_REC; no other mount, and no change of one. */
const innerMounts = [1 | 2 | 4 | 8, 2 | 4, 2 | 8, 4096 | 16384]
const unix = 1
/**
 * SOCK_STREAM and SOCK_SEQPACKET, the kinds of a pair that are bound to each other for good: a datagram socket of a pair
 * can still be connected to any other Unix socket, also by an abstract name.
 */
const boundPairs = [1, 5]
/** The bits of a socket's type that aren't SOCK_CLOEXEC or SOCK_NONBLOCK. */
const socketType = 0xf
/**
 * F_SETLEASE and F_SETDELEG: who opens a leased file or directory, outside as well, waits up to 45 s. F_NOTIFY tells that
 * somebody has read in a directory, as below.
 */
const refusedCommands = [1024, 1040, 1026]
/**
 * IN_ACCESS, IN_CLOSE_NOWRITE and IN_OPEN. Boxes show the same programs: these events would tell one tenant which tools
 * others call, and when.
 */
const readEvents = 0x1 | 0x10 | 0x20
/** FALLOC_FL_KEEP_SIZE without PUNCH_HOLE takes space of the disk that no limit on the size of a file bounds. */
const fallocateBits = 3
const keepSize = 1
/** FS_IOC_RESVSP, RESVSP64 and ZERO_RANGE do the same. */
const reservations = [0x40305828, 0x4030582a, 0x40305839]
/** S_ISUID and S_ISGID: who runs such a file, on the machine, becomes who owns it. */
const foreignRights = 0o6000
/** O_CREAT and O_TMPFILE; without them, what is in the place of permissions means nothing. */
const creating = 0x40 | 0x400000
/** TIOCSTI and TIOCLINUX, which put input into a terminal. */
const terminalInput = [0x5412, 0x541c]

/**
 * The seccomp filter of the sandbox, for the architecture by Node's name; undefined where there is none. It refuses the
 * ways to new namespaces, to other processes' memory, to mounts, keys, tracing and the kernel's rarer interfaces, and
 * every socket that isn't IP, but for pairs of Unix sockets that can't be connected to anything
 * else. No file gets the rights of its owner or group for who runs it (`chmod u+s`), and none takes space beyond its end. A system
 * call of another architecture kills the process: its numbers mean something else.
 *
 * @param unixSockets lets Unix sockets through, for a box with a network namespace of its own: abstract names are of that.
 */
export function sandboxFilter (arch: string, unixSockets = false): Buffer | undefined {
  const numbers = architectures[arch]
  return numbers === undefined ? undefined : assemble(program(numbers, callRules(numbers, unixSockets)))
}

/**
 * The filter of the process that imports a Python tool's module and forks its calls, which come under `sandboxFilter`
 * on top of it. It lets through what a new inner box takes, by exact flags, and is otherwise the same.
 */
export function templateFilter (arch: string): Buffer | undefined {
  const numbers = architectures[arch]
  if (numbers === undefined) return undefined
  const refused = numbers.refused.filter(number => number !== numbers.mount && number !== numbers.setns)
  return assemble(program({ ...numbers, refused }, templateRules(numbers)))
}

function callRules (numbers: Architecture, unixSockets: boolean): Instruction[] {
  return [
    ...onCall(numbers.unshare, [load(argument(0)), whenAnyBit(newNamespaces | newTime, 1), notPermitted, allow]),
    ...onCall(numbers.prctl, [load(argument(0)), whenEqual(setSeccomp, 1), invalid, allow]),
    ...onCall(numbers.seccomp, [load(argument(0)), whenEqual(setFilter, 1), invalid, allow]),
    ...onlyFamilies(numbers, unixSockets)
  ]
}

function templateRules (numbers: Architecture): Instruction[] {
  return [
    ...onCall(numbers.unshare, oneOf(0, innerNamespaces, notPermitted)),
    ...onCall(numbers.setns, oneOf(1, [newPids], notPermitted)),
    ...onCall(numbers.mount, oneOf(3, innerMounts, notPermitted)),
    ...onlyFamilies(numbers)
  ]
}

function onlyFamilies (numbers: Architecture, unixSockets = false): Instruction[] {
  return [
    ...onCall(numbers.socket, [
      load(argument(0)), ...(unixSockets ? [whenEqual(unix, 1), allow] : []), ...unlessOneOf(families, noSuchFamily),
      load(argument(1)), keepBits(socketType), ...unlessOneOf(ipTypes, noSuchType),
      load(argument(2)), ...unlessOneOf(protocols, noSuchProtocol), allow
    ]),
    ...onCall(numbers.socketpair, [
      load(argument(0)), unlessEqual(unix, 1), noSuchFamily,
      load(argument(1)), keepBits(socketType), ...boundPairs.flatMap(type => [whenEqual(type, 1), allow]), noSuchType
    ])
  ]
}

function oneOf (number: number, values: readonly number[], otherwise: Instruction): Instruction[] {
  return [load(argument(number)), ...values.flatMap(value => [whenEqual(value, 1), allow]), otherwise]
}

function unlessOneOf (values: readonly number[], otherwise: Instruction): Instruction[] {
  return [...values.map((value, i) => unlessEqual(value, values.length - i)), otherwise]
}

function program (numbers: Architecture, rules: Instruction[]): Instruction[] {
  return [
    load(at.architecture),
    unlessEqual(numbers.audit, 1), killProcess,
    load(at.number),
    ...(numbers.foreignFrom === undefined ? [] : [whenAtLeast(numbers.foreignFrom, 1), notImplemented]),
    ...[numbers.clone3, numbers.ioSetup, ...unknownEverywhere].flatMap(number => [whenEqual(number, 1), notImplemented]),
    ...numbers.refused.flatMap(number => [whenEqual(number, 1), notPermitted]),
    // A process moves to another processor by threads of the kernel that come before all others: whoever does so in a loop has the machine.
    ...onCall(numbers.affinity, [done]),
    ...onCall(numbers.setsockopt, [load(argument(1)), whenEqual(socketLevel, 1 + 2 * attachments.length), load(argument(2)),
      ...attachments.flatMap(option => [whenEqual(option, 1), notPermitted]), allow]),
    ...onCall(numbers.clone, [load(argument(0)), whenAnyBit(newNamespaces, 1), notPermitted, allow]),
    ...onCall(numbers.ioctl, [load(argument(1)), ...terminalInput.flatMap(request => [whenEqual(request, 1), notPermitted]),
      ...reservations.flatMap(request => [whenEqual(request, 1), notSupported]), allow]),
    ...onCall(numbers.fallocate, [load(argument(1)), keepBits(fallocateBits), whenEqual(keepSize, 1), notSupported, allow]),
    ...onCall(numbers.fcntl, [load(argument(1)), ...refusedCommands.flatMap(command => [whenEqual(command, 1), notPermitted]), allow]),
    ...onCall(numbers.watch, [load(argument(2)), whenAnyBit(readEvents, 1), notPermitted, allow]),
    ...numbers.modes.flatMap(([number, mode]) => onCall(number, [...refuseForeignRights(mode), allow])),
    ...numbers.creations.flatMap(([number, flags, mode]) => {
      const refusal = refuseForeignRights(mode)
      return onCall(number, [load(argument(flags)), whenAnyBit(creating, refusal.length), ...refusal, allow])
    }),
    ...rules,
    allow
  ]
}

/** The kernel reads 16 bits of permissions. */
function refuseForeignRights (mode: number): Instruction[] {
  return [load(argument(mode)), whenAnyBit(foreignRights, 1), notPermitted]
}

/** The offset of an argument's lower half, counted from 0. */
function argument (number: number): number {
  return 16 + 8 * number
}

/** Instructions for one system call; they end in a verdict. */
function onCall (number: number, instructions: Instruction[]): Instruction[] {
  return [whenEqual(number, instructions.length), ...instructions]
}
