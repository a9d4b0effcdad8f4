import { runFakePart } from './fake-part.ts'

runFakePart('api')
