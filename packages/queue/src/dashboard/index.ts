export { createBoard } from './board.ts'
export { viewerHeader, type BoardParts } from './board-queue.ts'
