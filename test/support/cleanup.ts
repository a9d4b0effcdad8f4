/** Ends things with a test: `t` of tap, or a benchmark's own list. */
export interface Cleanup {
  teardown: (step: () => unknown) => unknown
}
