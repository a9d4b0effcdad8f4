export { openQueueBoard, type BoardAnswer, type BoardParts, type BoardRequest, type QueueBoard, type Viewer } from './board.ts'
