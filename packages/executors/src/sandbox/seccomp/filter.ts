import { assemble, load, unlessEqual, verdict, whenAnyBit, whenAtLeast, whenEqual, type Instruction } from './bpf.ts'
import { architectures, ioUring, type Architecture } from './system-calls.ts'

const allow = verdict(0x7fff0000)
const killProcess = verdict(0x80000000)
const answer = (errno: number): Instruction => verdict(0x00050000 | errno)
const notPermitted = answer(1)
const notImplemented = answer(38)
const noSuchFamily = answer(97)

/** Offsets in `struct seccomp_data`; of an argument, its lower half. */
const at = { number: 0, architecture: 4, firstArgument: 16, secondArgument: 24 } as const
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET; for unshare also NEWTIME, whose bit clone has for the signal. */
const newNamespaces = 0x7e020000
const newTime = 0x80
/** AF_INET, AF_INET6 and AF_NETLINK, which the resolver needs: no Unix, vsock, packet or crypto sockets. */
const families = [2, 10, 16]
/** TIOCSTI and TIOCLINUX, which put input into a terminal. */
const terminalInput = [0x5412, 0x541c]

/**
 * The seccomp filter of the sandbox, for the architecture by Node's name; undefined where there is none. It refuses the
 * ways to new namespaces, to other processes' memory, to mounts, keys, tracing and the kernel's rarer interfaces, and
 * every socket that is neither IP nor netlink. `socketpair` stays, it reaches nobody. A system call of another
 * architecture kills the process: its numbers mean something else.
 */
export function sandboxFilter (arch: string): Buffer | undefined {
  const numbers = architectures[arch]
  return numbers === undefined ? undefined : assemble(program(numbers))
}

function program (numbers: Architecture): Instruction[] {
  return [
    load(at.architecture),
    unlessEqual(numbers.audit, 1), killProcess,
    load(at.number),
    ...(numbers.foreignFrom === undefined ? [] : [whenAtLeast(numbers.foreignFrom, 1), notImplemented]),
    ...[numbers.clone3, ...ioUring].flatMap(number => [whenEqual(number, 1), notImplemented]),
    ...numbers.refused.flatMap(number => [whenEqual(number, 1), notPermitted]),
    ...onCall(numbers.clone, [load(at.firstArgument), whenAnyBit(newNamespaces, 1), notPermitted, allow]),
    ...onCall(numbers.unshare, [load(at.firstArgument), whenAnyBit(newNamespaces | newTime, 1), notPermitted, allow]),
    ...onCall(numbers.ioctl, [load(at.secondArgument), ...terminalInput.flatMap(request => [whenEqual(request, 1), notPermitted]), allow]),
    ...onCall(numbers.socket, [load(at.firstArgument), ...families.flatMap(family => [whenEqual(family, 1), allow]), noSuchFamily]),
    allow
  ]
}

/** Instructions for one system call; they end in a verdict. */
function onCall (number: number, instructions: Instruction[]): Instruction[] {
  return [whenEqual(number, instructions.length), ...instructions]
}
