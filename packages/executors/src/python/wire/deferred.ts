export interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
}

/** Makes a promise that is fulfilled from outside; later values are ignored. */
export function createDeferred<T> (): Deferred<T> {
  let fulfil: (value: T) => void = () => {}
  const promise = new Promise<T>(resolve => { fulfil = resolve })
  return { promise, resolve: fulfil }
}
