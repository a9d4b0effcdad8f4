/** Fields of answers beside those that the examples of the specification show, on purpose: where each stands, and why. */
export const additions: ReadonlyArray<{ field: string, why: string }> = [
  { field: 'results[].job_id', why: 'Each call that became a job names it: its log and its whole output are found by it.' },
  { field: 'tool_messages[].content.message', why: 'A pending answer tells the model in words what goes on, and how to come back for the answer.' },
  { field: 'request_id', why: 'Every error has the id under which the log has the request.' },
  { field: 'mode', why: 'Every answer of a batch says its mode; two examples of refused calls leave it out.' },
  ...added('tools[].function.parameters.properties', {
    start_line: 'data_file_read reads a part of a file from this line on.',
    max_lines: 'data_file_read reads so many lines.',
    start_byte: 'data_file_read goes on where an answer was cut.',
    encoding: 'data_file_read gives files that are no text as base64.',
    include_ignored: 'tools_file_search leaves out what .gitignore names, unless it is asked for.',
    glob: 'tools_file_search looks for a pattern of names.',
    cursor: 'tools_file_search goes on where an answer ended.',
    'query.description': 'A model is told what a parameter is for.',
    'path.description': 'A model is told what a parameter is for.'
  }),
  ...added('results[].output', {
    ok: 'data_file_read and tools_file_search say in words that they succeeded.',
    truncated: 'Says whether there is more than what was given.',
    bytes_read: 'data_file_read: how much of the file is in the answer.',
    total_bytes: 'data_file_read: how large the file is.',
    query: 'tools_file_search: what was looked for.',
    base_path: 'tools_file_search: where.',
    result_count: 'tools_file_search: how many there are in the answer.',
    has_more: 'tools_file_search: whether a cursor leads to more.',
    scanned: 'tools_file_search: how many files were looked at.'
  })
]

function added (parent: string, fields: Record<string, string>): Array<{ field: string, why: string }> {
  return Object.entries(fields).map(([name, why]) => ({ field: `${parent}.${name}`, why }))
}
