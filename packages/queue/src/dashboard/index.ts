export { openQueueBoard, type QueueBoard } from './board.ts'
export type { BoardAnswer, BoardParts, BoardRequest, Viewer } from './board-parts.ts'
