export { createCallbackSender, type CallbackSenderOptions } from './callbacks/sender.ts'
export { SessionWorkspaces, type WorkspaceWish } from './job/session-workspaces.ts'
export { runWorker } from './run.ts'
export { Shortages } from './job/shortages.ts'
