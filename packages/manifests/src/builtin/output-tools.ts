import { limits } from '@toolyard/contract/terms'
import { closedObject, type BuiltinDeclaration } from './declaration.ts'

const jobId = { type: 'string', minLength: 1, maxLength: 200, description: 'The job_id of the call whose output was cut.' }
const of = { type: 'string', enum: ['output', 'log'], default: 'output', description: 'What to look at: what the call returned, or the lines that it logged.' }
const pointer = { type: 'string', maxLength: 2_000, description: 'JSON Pointer to a part of a JSON output, such as /items/0/name.' }
/** Both read what is kept, within the time of a request. */
const common = { timeoutSec: limits.waitMs.max / 1_000, idempotent: true, permissions: [] } as const

export const outputRead: BuiltinDeclaration = {
  ...common,
  name: 'output_read',
  jobType: 'output.read',
  description: 'Read the output of a call that was cut, part by part: by characters (offset, limit), by lines, or for JSON by a pointer and a range of list items. The answer says where the next part begins.',
  action: 'output_read',
  parameters: closedObject({
    job_id: jobId,
    of,
    offset: { type: 'integer', minimum: 0, description: 'Character to begin at, from 0; next_offset of the part before.' },
    limit: { type: 'integer', minimum: 1, maximum: limits.maxOutputChars.max, description: 'Characters to read; as many as an answer takes when left out.' },
    lines: { type: 'string', pattern: '^[1-9][0-9]{0,8}(-([1-9][0-9]{0,8})?)?$', description: 'Lines instead of characters, from 1: 100-200, or 100- for all from there. JSON has the lines of its indented form.' },
    pointer,
    items: { type: 'string', pattern: '^[0-9]{1,9}(-([0-9]{1,9})?)?$', description: 'Items of the list that pointer names (or of the output), from 0: 0-49, or 50- for all from there.' }
  }, ['job_id'])
}

/** Finds lines in an output that was too long for an answer. */
export const outputSearch: BuiltinDeclaration = {
  ...common,
  name: 'output_search',
  jobType: 'output.search',
  description: 'Search the output, or the log, of a call for a regular expression (RE2 syntax: no look-around, no back references). Returns the lines that match, their numbers and, for JSON, where they are as a pointer for output_read.',
  action: 'output_search',
  parameters: closedObject({
    job_id: jobId,
    pattern: { type: 'string', minLength: 1, maxLength: 1_000, description: 'What to look for, within one line.' },
    context: { type: 'integer', minimum: 0, maximum: 20, default: 2, description: 'Lines to show before and after each match.' },
    of,
    case_sensitive: { type: 'boolean', default: false },
    limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'Most matches to return.' },
    cursor: { type: 'string', pattern: '^[0-9]{1,9}:[0-9]{1,9}$', description: 'next_cursor of the page before.' }
  }, ['job_id', 'pattern'])
}
