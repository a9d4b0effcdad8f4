import type { ProcessPlan } from '../process/plan/plan.ts'
import { maxElementBytes } from '../process/plan/plan.ts'

/**
 * Reads one order from a descriptor, then becomes the program that the order names, with exactly its environment. Perl,
 * because it starts within 2 ms, and because a shell can't read every argument.
 */
const script = [
  'open my $in, "+<&=", shift or exit 127',
  'my $order = ""',
  'until ($order =~ /^(\\d+)\\n/ && length($order) > length($1) + $1) { sysread($in, $order, 65536, length $order) or exit 127 }',
  '$order =~ s/^\\d+\\n//',
  'my ($program, $name, $count, @rest) = split /\\0/, $order, -1',
  '%ENV = map { split /=/, $_, 2 } splice @rest, $count',
  'exec {$program} $name, @rest',
  // As bubblewrap says it: box-end.ts finds out why.
  'print STDERR "bwrap: execvp $program: $!\\n"',
  'exit 127'
].join('; ')

/** A longer order is for a box that is made for its call: the kernel may refuse it, and says why. */
const maxOrderBytes = maxElementBytes

/** The words that wait in a box for the order. */
export function waitingCommand (perl: string, descriptor: number): string[] {
  return [perl, '-e', script, String(descriptor)]
}

/** The order for the program that waits; undefined for a plan that can't be sent. */
export function orderOf ({ program, name = program, args, env }: ProcessPlan): Buffer | undefined {
  const variables = Object.entries(env).map(([variable, value]) => `${variable}=${value}`)
  const elements = [program, name, String(args.length), ...args, ...variables]
  if (elements.some(text => text.includes('\0'))) return undefined
  const order = Buffer.from(elements.join('\0'))
  return order.length > maxOrderBytes ? undefined : Buffer.concat([Buffer.from(`${order.length}\n`), order])
}
