export { createCallbackSender, type CallbackSenderOptions } from './callbacks/sender.ts'
export { SessionRooms, type RoomWish } from './job/session-rooms.ts'
export { runWorker } from './run.ts'
