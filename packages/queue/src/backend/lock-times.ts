/*
 * A job whose lock is not renewed in time (`lockMs`) is taken from its worker. Workers that serve the same queues take turns
 * to look for such jobs, so that two looks are at most `turnMs + askMs` apart, also when the one that has the turn dies.
 * Together with `lockMs` this leaves half a second of the promised 5 to whoever takes the job. The rest is for silences of
 * Redis: one costs no run that is shorter than `lockMs - endMs - renewMs`, because no worker can tell it from a cut network.
 */

/** A lock is renewed after so many milliseconds. */
export const renewMs = 400

/** How often a worker asks whether it is its turn to look for jobs without a lock, in milliseconds. */
export const askMs = 250

/** How long a turn lasts, in milliseconds: a little less, so that who has had it can have it again. */
export const turnMs = 220

/** For so many milliseconds after a look of another process in the same queue, BullMQ's script does nothing. */
export const lookGuardMs = 100
