import { runFakePart } from './fake-part.ts'

runFakePart('worker')
