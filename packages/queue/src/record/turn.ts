import { limits } from '@toolyard/contract/terms'

/** BullMQ's priorities are below 2^21: a part of them for each public priority, which is a turn. */
export const maxTurn = Math.floor((2 ** 21 - 2) / (limits.priority.max + 1))
/** BullMQ sorts by the priority, and within one by the order of arrival, which has this many places. */
export const arrivals = 2 ** 32
/** Turns of a queue that nobody uses any more are dropped after a day, in seconds. */
export const turnsKeptSec = 86_400
