/**
 * How a forked process ended. `unboxed`: it didn't begin, because its nest could not be made. `lost`: it isn't known,
 * because the process that forked it is gone.
 */
export type ForkEnding = { kind: 'exit', code: number } | { kind: 'signal', signal: NodeJS.Signals } | { kind: 'unboxed', cause: string } | { kind: 'lost' }
