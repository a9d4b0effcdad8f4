export { AddressRefusedError } from './addresses.ts'
export { openConnections, type ConnectionOptions, type Connections, type Lookup } from './connections.ts'
export { isListedHost, plainHost } from './hosts.ts'
export { startTimeLimit, type TimeLimit } from './time-limit.ts'
