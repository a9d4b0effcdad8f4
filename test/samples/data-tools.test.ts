import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { callSample, copyWorkspace, failSample, withoutPython } from './sample-tool.ts'

t.test('json_query follows a JSON path through a file, with wildcards', async t => {
  const answer = await callSample(t, 'json_query', { path: 'data/stations.json', query: '$.stations[*].battery.volts' }, await copyWorkspace(t))
  t.strictSame(answer, { query: '$.stations[*].battery.volts', count: 3, matches: [12.6, 12.9, 11.8] })
})

t.test('json_query follows a JSON Pointer, with its escapes', async t => {
  const workspace = await copyWorkspace(t)
  t.match(await callSample(t, 'json_query', { path: 'data/stations.json', query: '/stations/1/name' }, workspace), { matches: ['Lower Meadow'] })
  t.match(await callSample(t, 'json_query', { json: '{"a/b": {"~": 1}}', query: '/a~1b/~0' }, workspace), { matches: [1] })
  t.strictSame((await callSample(t, 'json_query', { json: 'null', query: '' }, workspace))['matches'], [null])
})

for (const [query, matches] of [
  ["$['a b'][-1]", [3]],
  ['$["a b"][0]', [1]],
  ['$.*[1]', [2]],
  ['$["a b"][*]', [1, 2, 3]],
  ['$["a b"][9]', []],
  ['$["a b"].length', []],
  ['$.constructor', []],
  ['/a b/-1', []],
  ['/a b/2', [3]]
] as const) {
  t.test(`json_query answers ${query} with ${JSON.stringify(matches)}`, async t => {
    const answer = await callSample(t, 'json_query', { json: '{"a b": [1, 2, 3]}', query }, await copyWorkspace(t))
    t.strictSame(answer, { query, count: matches.length, matches })
  })
}

t.test('json_query refuses a query that it cannot read, and a file that is not JSON', async t => {
  const workspace = await copyWorkspace(t)
  t.equal(await failSample(t, 'json_query', { json: '{}', query: '$..name' }, workspace), 'query is not a JSON path that this tool knows, at: ..name')
  t.match(await failSample(t, 'json_query', { json: '{}', query: 'name' }, workspace), /^query must start with/)
  t.match(await failSample(t, 'json_query', { json: '{}' }, workspace), /^query is required/)
  t.equal(await failSample(t, 'json_query', { query: '$' }, workspace), 'give either path or json')
  t.equal(await failSample(t, 'json_query', { json: '{', query: '$' }, workspace), 'json is no JSON text')
  t.equal(await failSample(t, 'json_query', { path: 'README.md', query: '$' }, workspace), 'file is not JSON: README.md')
})

t.test('csv_summary tells type, range and mean of each column', { skip: withoutPython }, async t => {
  const answer = await callSample(t, 'csv_summary', { path: 'data/readings.csv' }, await copyWorkspace(t))
  t.match(answer, { path: 'data/readings.csv', rows: 36, ragged_rows: 0 })
  const columns = answer['columns'] as Array<Record<string, unknown>>
  t.strictSame(columns.map(column => column['name']), ['time', 'station', 'temperature_c', 'humidity_pct', 'wind_ms', 'rain_mm', 'status'])
  t.strictSame(columns[1], { name: 'station', type: 'text', missing: 0, min: 'meadow', max: 'ridge', distinct: 3 })
  t.match(columns[4], { name: 'wind_ms', type: 'number', missing: 2 })
})

t.test('csv_summary reads quotes, another delimiter, short rows and a byte order mark', { skip: withoutPython }, async t => {
  const workspace = await copyWorkspace(t)
  await writeFile(join(workspace, 'odd.csv'), '\uFEFFid;note;gap\r\n1;"a;b\nc";\r\n\r\n4;nan\r\n-2.5;1_000;\r\n')
  t.strictSame(await callSample(t, 'csv_summary', { path: 'odd.csv', delimiter: ';' }, workspace), {
    path: 'odd.csv',
    rows: 3,
    ragged_rows: 1,
    columns: [
      { name: 'id', type: 'number', missing: 0, min: -2.5, max: 4, mean: 0.833333 },
      { name: 'note', type: 'text', missing: 0, min: '1_000', max: 'nan', distinct: 3 },
      { name: 'gap', type: 'empty', missing: 3 }
    ]
  })
})

t.test('csv_summary refuses a file without a header, and one that is not text', { skip: withoutPython }, async t => {
  const workspace = await copyWorkspace(t)
  await writeFile(join(workspace, 'empty.csv'), '')
  await writeFile(join(workspace, 'binary.csv'), Buffer.from([0x89, 0xff, 0xfe]))
  t.equal(await failSample(t, 'csv_summary', { path: 'empty.csv' }, workspace), 'file has no header row')
  t.equal(await failSample(t, 'csv_summary', { path: 'binary.csv' }, workspace), 'file is not UTF-8 text: binary.csv')
  t.match(await failSample(t, 'csv_summary', { path: 'README.md', delimiter: 'x' }, workspace), /^delimiter must be one of/)
})

t.test('file_hash computes the digest of the bytes, sha256 unless told otherwise', async t => {
  const workspace = await copyWorkspace(t)
  const bytes = await readFile(join(workspace, 'README.md'))
  for (const algorithm of ['sha256', 'sha512', 'sha1']) {
    const args = algorithm === 'sha256' ? { path: 'README.md' } : { path: 'README.md', algorithm }
    const hash = createHash(algorithm).update(bytes).digest('hex')
    t.strictSame(await callSample(t, 'file_hash', args, workspace), { path: 'README.md', algorithm, hash, bytes: bytes.length })
  }
})

t.test('file_hash refuses an algorithm that it does not know', async t => {
  t.equal(await failSample(t, 'file_hash', { path: 'README.md', algorithm: 'crc32' }, await copyWorkspace(t)), 'algorithm must be one of: sha256, sha512, sha1, md5')
})
