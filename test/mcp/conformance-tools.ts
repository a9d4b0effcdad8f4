/** The tools that the conformance suite of MCP asks for, as manifests have them: it is the product that is tested. */
const script = (body: string): string => `#!/bin/sh\n${body}\n`
const answer = (output: unknown): string => script(`cat >/dev/null; printf '%s' '${JSON.stringify(output).replaceAll("'", "'\\''")}'`)
const node = (body: string): string => `#!/usr/bin/env node
let text = ''
process.stdin.on('data', chunk => { text += chunk })
process.stdin.on('end', () => { const args = JSON.parse(text || '{}'); ${body} })
`

/** One red pixel, and a moment of silence. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const wav = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const resource = (uri: string, mimeType: string, text: string): object => ({ type: 'resource', resource: { uri, mimeType, text } })

/** Asks for what has these names, one after the other, and says hello then. */
const asking = (...questions: Array<readonly [name: string, field: string, type: string]>): string => script(`cat > /dev/null
given=$( [ -z "$TOOLYARD_ANSWER" ] && echo 0 || wc -l < "$TOOLYARD_ANSWER" )
case "$given" in
${questions.map(([name, field, type], index) => `${index}) echo '{"$ask":{"name":"${name}","text":"Which?","schema":{"type":"object","properties":{"${field}":{"type":"${type}"}},"required":["${field}"]}}}';;`).join('\n')}
*) echo 'state-ok, hello';;
esac`)

/** Asks this, and gives out what was said; each after so many seconds, for calls that are to become tasks. */
const ask = (asks: unknown, beforeSec = 0, afterSec = 0): string => script(`cat > /dev/null
[ -n "$TOOLYARD_ANSWER" ] && sleep ${afterSec} && exec cat "$TOOLYARD_ANSWER"
sleep ${beforeSec}
echo '${JSON.stringify({ $ask: asks })}'`)
const question = (properties: object, name = 'answer'): object => ({ name, text: 'Please say', schema: { type: 'object', properties } })
const form = (properties: object): string => ask(question(properties))
const sampling = (name: string, text: string): object => (
  { name, kind: 'sampling', params: { messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens: 100 } }
)
const roots = { name: 'client_roots', kind: 'roots' }
const person = question({ name: { type: 'string' } }, 'user_name')
const confirmed = { confirm: { type: 'boolean' } }
const titled = (...values: string[]): object[] => values.map(value => ({ const: value, title: `Choice ${value}` }))
const options = ['option1', 'option2', 'option3']

/** Programs, by their tools. */
const programs: Record<string, string> = {
  test_simple_text: script('echo This is a simple text response for testing.'),
  test_image_content: answer({ content: [{ type: 'image', data: png, mimeType: 'image/png' }] }),
  test_audio_content: answer({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] }),
  test_embedded_resource: answer({
    content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')]
  }),
  test_multiple_content_types: answer({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      { type: 'image', data: png, mimeType: 'image/png' },
      resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}')
    ]
  }),
  test_tool_with_logging: script(
    'echo Tool execution started >&2; sleep 0.05; echo Tool processing data >&2; sleep 0.05; echo Tool execution completed >&2; echo done'
  ),
  test_tool_with_progress: script('echo one >&2; sleep 0.05; echo two >&2; sleep 0.05; echo three >&2; echo done'),
  test_logging_tool: script('echo a line for the log >&2; echo done'),
  test_error_handling: script('echo This tool intentionally returns an error for testing >&2; exit 1'),
  test_reconnection: script('sleep 0.1; echo done'),
  test_custom_headers: node('process.stdout.write(JSON.stringify(args))'),
  greet: node('process.stdout.write("Hello, " + args.name + "!")'),
  slow_compute: node('setTimeout(() => process.stdout.write("done after " + args.seconds + " s"), args.seconds * 1000)'),
  confirm_delete: ask(question(confirmed), 1),
  multi_input: ask([question(confirmed, 'first'), question(confirmed, 'second')], 1),
  test_input_required_result_elicitation: asking(['user_name', 'name', 'string']),
  test_input_required_result_request_state: asking(['confirm', 'ok', 'boolean']),
  test_input_required_result_tampered_state: asking(['confirm', 'ok', 'boolean']),
  test_input_required_result_multi_round: asking(['step1', 'name', 'string'], ['step2', 'color', 'string']),
  test_input_required_result_prompt: asking(['user_context', 'context', 'string']),
  test_input_required_result_sampling: ask(sampling('capital_question', 'What is the capital of France?')),
  test_input_required_result_list_roots: ask(roots),
  test_input_required_result_multiple_inputs: ask([person, sampling('greeting', 'Generate a greeting'), roots]),
  test_input_required_result_capabilities: ask([person, sampling('greeting', 'Generate a greeting')]),
  test_tool_with_task: ask(person, 0, 2),
  test_sampling: ask(sampling('answer', 'What does the argument ask for?')),
  test_streaming_elicitation: ask(person),
  test_elicitation: form({ username: { type: 'string' }, email: { type: 'string' } }),
  test_elicitation_sep1034_defaults: form({
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true }
  }),
  test_elicitation_sep1330_enums: form({
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled('value1', 'value2', 'value3') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled('value1', 'value2', 'value3') } }
  }),
  test_simple_prompt: script('echo This is a simple prompt for testing.'),
  test_prompt_with_arguments: node('process.stdout.write("Prompt with arguments: " + args.arg1 + ", " + args.arg2)'),
  test_prompt_with_embedded_resource: node(`process.stdout.write(JSON.stringify({ content: [
    { type: 'resource', resource: { uri: args.resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' } },
    { type: 'text', text: 'Please process the embedded resource above.' }
  ] }))`),
  test_prompt_with_image: answer({
    content: [{ type: 'image', data: png, mimeType: 'image/png' }, { type: 'text', text: 'Please analyze the image above.' }]
  }),
  static_text: script('echo This is the content of the static text resource.'),
  static_binary: answer({ blob: png }),
  template: node('process.stdout.write(JSON.stringify({ id: args.id, templateTest: true, data: "Data for ID: " + args.id }))'),
  watched_resource: script('echo Watched.'),
  failing_job: script('sleep 1; echo the job failed as it should >&2; exit 1')
}

function texts (...names: string[]): object {
  return { type: 'object', properties: Object.fromEntries(names.map(name => [name, { type: 'string' }])), required: names }
}

/** Clients of MCP see these instead of tools. */
const published: Record<string, unknown> = {
  test_simple_prompt: 'prompt',
  test_prompt_with_arguments: 'prompt',
  test_prompt_with_embedded_resource: 'prompt',
  test_prompt_with_image: 'prompt',
  test_input_required_result_prompt: 'prompt',
  static_text: { uri: 'test://static-text', mimeType: 'text/plain' },
  static_binary: { uri: 'test://static-binary', mimeType: 'image/png' },
  template: { uri: 'test://template/{id}/data', mimeType: 'application/json' },
  watched_resource: { uri: 'test://watched-resource' }
}

const schemas: Record<string, object> = {
  greet: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  test_prompt_with_arguments: texts('arg1', 'arg2'),
  test_prompt_with_embedded_resource: texts('resourceUri'),
  template: texts('id'),
  test_custom_headers: { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } },
  slow_compute: { type: 'object', properties: { seconds: { type: 'number' }, label: { type: 'string' } }, required: ['seconds'] },
  json_schema_2020_12_tool: {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
    properties: {
      name: { type: 'string' },
      address: { $ref: '#/$defs/address' },
      contactMethod: {
        type: 'string', enum: ['phone', 'email']
      },
      phone: { type: 'string' },
      email: { type: 'string' }
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
    then: { required: ['phone'] },
    else: { required: ['email'] },
    additionalProperties: false
  }
}

/** A tool whose output is not what it promises, which is no answer of the tool. */
const promises = {
  schema_version: '1.0',
  metadata: { name: 'promises', description: 'For the conformance suite' },
  tools: [{
    name: 'protocol_error_job', description: 'What the conformance suite calls protocol_error_job', module: 'broken_promise', outputs: { kept: { type: 'boolean' } }, strict_outputs: true
  }]
}

export const conformanceFiles = {
  ...Object.fromEntries(Object.entries(programs).map(([name, text]) => [`tools/bin/${name}`, text])),
  'skills/pdf-processing/SKILL.md': '---\nname: pdf-processing\ndescription: Reads and fills forms\n---\nSee references/FORMS.md.\n',
  'skills/pdf-processing/references/FORMS.md': '# Forms\n',
  'promises/manifest.json': JSON.stringify(promises),
  'promises/broken_promise.py': 'import time\nfrom toolyard import Tool\n\n\nclass BrokenPromise(Tool):\n    def execute(self):\n        time.sleep(1)\n        return {}\n'
}

/** Where a service finds their manifests. */
export const conformanceManifests = ['skills', 'tools.json', 'promises/manifest.json']

export const conformanceTools = [...Object.keys(programs), 'json_schema_2020_12_tool'].map(name => ({
  name,
  description: `What the conformance suite calls ${name}`,
  schema: schemas[name] ?? { type: 'object' },
  command: [`./tools/bin/${name === 'json_schema_2020_12_tool' ? 'test_custom_headers' : name}`],
  ...name in published && { publishAs: published[name] },
  asks: programs[name]?.includes('$ask') ?? false,
  timeoutSec: ['slow_compute', 'failing_job', 'confirm_delete', 'multi_input', 'test_tool_with_task'].includes(name) ? 120 : 10
}))
