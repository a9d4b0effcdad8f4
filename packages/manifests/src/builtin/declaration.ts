import type { Tool } from '../tool.ts'

/** What a built-in tool says of itself; the rest is the same for all of them. */
export type BuiltinDeclaration = Pick<Tool, 'name' | 'jobType' | 'description' | 'parameters'> & { timeoutSec: number }
