/** Pages whose blocks a test of their own runs, with what they need: the page, and the test. */
export const ownTests: Readonly<Record<string, string>> = {
  'README.md': 'test/package/install.test.ts',
  'docs/clients.md': 'test/other-clients/snippets.test.ts',
  'docs/http-entries.md': 'test/commands/import.test.ts',
  'docs/http-tools.md': 'test/pages/page-commands.test.ts',
  'docs/mcp-servers.md': 'test/upstream/mcp-servers.test.ts',
  'docs/mcp.md': 'test/pages/page-commands.test.ts',
  'docs/openapi.md': 'test/pages/page-commands.test.ts',
  'docs/traces.md': 'test/traces/off.test.ts'
}

/** Blocks that can't be run here: the page, how the block begins, and why. */
export const notRun: ReadonlyArray<readonly [page: string, begins: string, reason: string]> = [
  ['docs/start.md', 'npm install', 'it downloads packages; test/package/install.test.ts runs the same lines with the tarballs'],
  ['docs/start.md', 'npx toolyard start', 'the service of this test stands for it'],
  ['docs/python-tools.md', 'python3 -m venv', 'it downloads packages'],
  ['docs/operations.md', 'npm run secrets', 'it needs Docker, a cluster or systemd; test/deploy and test/faults check the files behind it'],
  ['docs/operations.md', 'install -D -m 644 deploy/systemd/toolyard-api-files.conf', 'it needs systemd; test/deploy checks the file behind it'],
  ['docs/operations.md', 'docker ', 'it needs Docker'],
  ['docs/operations.md', 'promtool ', 'it is for a clone with promtool; test/deploy/observe.test.ts runs it where it is installed'],
  ['docs/performance.md', 'npm run bench', 'it takes minutes, and a machine that does nothing else'],
  ['docs/secrets.md', 'npx toolyard secrets set', 'its files with tokens are the reader\'s, and the service of this test has no SECRETS_KEY; test/http/secrets.test.ts does the same over HTTP'],
  ['docs/callbacks.md', 'import { createHmac', 'test/callbacks/receiver.ts checks each callback of the tests with it']
]
