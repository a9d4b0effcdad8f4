/** Sent by the console with each request; the cookie of a login counts only beside it. Its value doesn't matter. */
export const consoleHeader = 'x-toolyard-console'
