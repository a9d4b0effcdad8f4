/** Rules of Toolyard alone: what the lint of manifests tells about models, and what entries of its own must keep. */
export const lintRules: Readonly<Record<string, string>> = {
  'lint/count': 'A model chooses worse among many tools: offer it those that it needs.',
  'lint/depth': 'Models fill deeply nested arguments badly: keep a schema flat.',
  'lint/description': 'A model chooses a tool by its description: say what it does, and in what form it takes what.',
  'lint/name': 'Only names of letters, digits, _ and -, up to 64, can be published to models.',
  'lint/provider': 'The API of a provider refuses this schema as a whole, so models are sent a mended one; calls are checked against the schema as it is written.',
  'lint/size': 'A schema is sent to the model with each turn: a large one costs tokens each time.',
  'lint/strict': 'The strict mode of models takes only a part of JSON Schema: this schema has no such form.',
  'http/openapi': 'An entry may name an operation of an OpenAPI document of version 3, as docs/http-entries.md says.',
  'http/request': 'An entry of an HTTP request has the fields of docs/http-entries.md.',
  'http/secret': 'Secrets for an API come from environment variables of the workers, by {"setting": NAME}, and never stand in a manifest: docs/http-entries.md.',
  'catalogue/fields': 'The place of tools in a catalogue is told by namespace, tags and pinned: docs/catalogues.md.',
  'catalogue/tools': 'A service has a bounded number of tools: docs/catalogues.md.',
  'policy/rule': 'Rules on calls are expressions in CEL about args, key, tenant, session, conversation and tool: docs/approvals.md.',
  'mcp/accepted': 'Only those tools of an MCP server are published that were accepted with toolyard accept: docs/mcp-servers.md.',
  'mcp/secret': 'Secrets for an MCP server come from environment variables of the workers, by {"setting": NAME}, and never stand in a manifest: docs/mcp-servers.md.',
  'mcp/publish': 'publishAs is "prompt" or {"uri": ..., "mimeType": ...}; the arguments of a prompt are texts, those of a resource stand in its URI: docs/mcp.md.',
  'skill/front-matter': 'A front matter has fields that somebody reads.',
  'skill/settings': 'An entry about a skill has the fields of docs/skills.md, and names a skill that there is.',
  'skill/missing': 'The programs and packages that the scripts of a skill need are on this machine.',
  'lock/differs': 'What was added is what toolyard.lock.json has of it: docs/adding.md.',
  'mcp/server': 'An entry of an MCP server has the fields of docs/mcp-servers.md.'
}
