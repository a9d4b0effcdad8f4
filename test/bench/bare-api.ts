import Fastify from 'fastify'

/** A bare Fastify that checks batches by one JSON schema and answers what Toolyard would. Sends its address to its parent. */
const app = Fastify()
const answer = {
  type: 'object',
  properties: {
    batch_id: { type: 'string' },
    results: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          call_id: { type: 'string' },
          ok: { type: 'boolean' },
          error: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } }
        }
      }
    }
  }
}
app.post('/', {
  schema: {
    body: {
      type: 'object',
      required: ['calls'],
      properties: {
        calls: {
          type: 'array',
          items: {
            type: 'object',
            required: ['call_id', 'name', 'arguments'],
            properties: { call_id: { type: 'string' }, name: { type: 'string' }, arguments: { type: 'object', additionalProperties: true } }
          }
        }
      }
    },
    response: { 200: answer }
  }
}, request => {
  const { calls } = request.body as { calls: Array<{ call_id: string, name: string }> }
  return {
    batch_id: 'batch_0123456789abcdef',
    results: calls.map(({ call_id: id, name }) => ({ call_id: id, ok: false, error: { code: 'UNKNOWN_TOOL', message: `unknown tool: ${name}` } }))
  }
})
process.send?.(await app.listen({ port: 0, host: '127.0.0.1' }))
