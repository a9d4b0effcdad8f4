/** A request of an example, and what it answers. `workers: 0` where the example is of a call that doesn't end. */
export interface Example {
  title: string
  request?: { body: unknown, key?: 'read' }
  answer: { status: number, body: Record<string, unknown> }
  withoutWorkers?: true
}

const jobId = '550e8400-e29b-41d4-a716-446655440000'
const read = { call_id: 'call-abc-123', name: 'data_file_read' }
const search = { call_id: 'call-def-456', name: 'tools_file_search' }
const calls = [{ ...read, arguments: { path: 'README.md' } }, { ...search, arguments: { query: 'test' } }]
const contents = { path: 'README.md', content_text: '# My Project\n...' }
const found = { results: [{ path: 'test.txt', type: 'file' }] }
const late = { ok: false, pending: true, job_id: jobId, error: { code: 'TIMEOUT', message: 'Job did not complete within wait_ms' } }

function message ({ call_id: id, name }: { call_id: string, name: string }, content: object): object {
  return { role: 'tool', tool_call_id: id, name, content: JSON.stringify(content) }
}

function refused (call: { call_id: string, name: string }, error: object): Record<string, unknown> {
  return { ok: true, results: [{ ...call, ok: false, error }], tool_messages: [message(call, { ok: false, error })] }
}

const unknown = { call_id: 'call-unknown', name: 'nonexistent_tool' }
const fake = { call_id: 'call-x', name: 'fake_tool' }
const disabled = { call_id: 'call-y', name: 'tool_exec' }

/** The literal examples of the Agent Tools API. */
export const examples: readonly Example[] = [
  {
    title: 'the list of tools',
    answer: {
      status: 200,
      body: {
        ok: true,
        tools: [
          {
            type: 'function',
            function: {
              name: 'data_file_read',
              description: 'Read a UTF-8 text file from workspace.',
              parameters: {
                type: 'object',
                properties: { path: { type: 'string', description: 'Workspace-relative file path.' }, max_bytes: { type: 'integer', minimum: 512, maximum: 1_048_576 } },
                required: ['path'],
                additionalProperties: false
              }
            }
          },
          {
            type: 'function',
            function: {
              name: 'tools_file_search',
              description: 'Search files by path/name under workspace.',
              parameters: {
                type: 'object',
                properties: { query: { type: 'string' }, path: { type: 'string' }, max_results: { type: 'integer', minimum: 1, maximum: 200 }, include_hidden: { type: 'boolean' } },
                required: ['query'],
                additionalProperties: false
              }
            }
          }
        ],
        count: 2
      }
    }
  },
  {
    title: 'a sync batch',
    request: { body: { calls, mode: 'sync', wait_ms: 15_000, queue: 'default' } },
    answer: {
      status: 200,
      body: {
        ok: true,
        results: [{ ...read, ok: true, output: contents }, { ...search, ok: true, output: found }],
        tool_messages: [message(read, { ok: true, result: contents }), message(search, { ok: true, result: found })],
        mode: 'sync'
      }
    }
  },
  {
    title: 'a sync batch whose time ends',
    withoutWorkers: true,
    request: { body: { calls: calls.slice(0, 1), wait_ms: 100 } },
    answer: { status: 200, body: { ok: true, results: [{ ...read, ...late }], tool_messages: [message(read, late)], mode: 'sync' } }
  },
  {
    title: 'an async batch',
    request: { body: { calls: calls.slice(0, 1), mode: 'async' } },
    answer: { status: 200, body: { ok: true, results: [{ ...read, ok: true, job_id: jobId, job_type: 'data.file_read' }], tool_messages: [], mode: 'async' } }
  },
  {
    title: 'a call that could not be made',
    request: { body: { calls: [unknown] } },
    answer: { status: 200, body: { ...refused(unknown, { code: 'UNKNOWN_TOOL', message: "Tool 'nonexistent_tool' not found in registry" }), mode: 'sync' } }
  },
  {
    title: 'a request that is not valid',
    request: { body: {} },
    answer: { status: 400, body: { ok: false, error: { code: 'VALIDATION_ERROR', message: "'calls' must be an array", details: {} } } }
  },
  {
    title: 'a key that may not call',
    request: { body: { calls }, key: 'read' },
    answer: { status: 403, body: { ok: false, error: { code: 'FORBIDDEN', message: 'This operation requires an admin API key.' } } }
  },
  {
    title: 'an unknown tool',
    request: { body: { calls: [fake] } },
    answer: { status: 200, body: refused(fake, { code: 'UNKNOWN_TOOL', message: "Tool 'fake_tool' not found in registry" }) }
  },
  {
    title: 'a job type that is switched off',
    request: { body: { calls: [disabled] } },
    answer: { status: 200, body: refused(disabled, { code: 'JOB_TYPE_DISABLED', message: "Job type 'tool.exec' is disabled" }) }
  },
  {
    title: 'an id of a call',
    request: { body: { calls: [{ ...read, call_id: 'my-custom-id-123', arguments: { path: 'README.md' } }] } },
    answer: { status: 200, body: { results: [{ call_id: 'my-custom-id-123' }], tool_messages: [{ tool_call_id: 'my-custom-id-123' }] } }
  },
  {
    title: 'an output that is cut',
    request: { body: { calls: [{ call_id: 'a', name: 'data_file_read', arguments: { path: 'long.txt' } }] } },
    answer: { status: 200, body: { results: [{ ok: true, output: { truncated: true, bytes: 54_321, preview: '{...first 12000 characters...}' } }] } }
  },
  {
    title: 'the sync call of the usage',
    request: { body: { calls: [{ call_id: 'read-readme', name: 'data_file_read', arguments: { path: 'README.md' } }], mode: 'sync', wait_ms: 5_000 } },
    answer: { status: 200, body: { ok: true, mode: 'sync', results: [{ call_id: 'read-readme', ok: true }] } }
  },
  {
    title: 'the async call of the usage',
    request: { body: { calls: [{ call_id: 'search-files', name: 'tools_file_search', arguments: { query: 'test' } }], mode: 'async' } },
    answer: { status: 200, body: { ok: true, mode: 'async', results: [{ call_id: 'search-files', ok: true }], tool_messages: [] } }
  }
]
