import { serveThread } from '@toolyard/runtime/threads'

/** Work that says that it has begun, and lasts until it is let go. */
export interface HeldWork {
  begun: SharedArrayBuffer
  gate: SharedArrayBuffer
}

serveThread({
  hold: async ({ begun, gate }: HeldWork) => {
    Atomics.add(new Int32Array(begun), 0, 1)
    Atomics.wait(new Int32Array(gate), 0, 0)
    return await Promise.resolve({ answer: 'done' })
  }
})
