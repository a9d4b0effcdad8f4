export { createCallbackSender, type CallbackSenderOptions } from './callbacks/sender.ts'
export { runWorker } from './run.ts'
