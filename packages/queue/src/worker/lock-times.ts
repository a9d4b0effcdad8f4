/*
 * A job whose lock is not renewed in time (`lockMs`) is taken from its worker; the check runs every `stalledCheckMs`.
 * Together they bound the time after which a dead worker's job is taken up again, and leave 1.5 s of the promised 5 to
 * whoever takes it.
 */

/** A lock is renewed after so many milliseconds. */
export const renewMs = 750

/** Between two looks for jobs without a lock, in milliseconds. */
export const stalledCheckMs = 500
