import { readdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'

const dist = dirname(fileURLToPath(import.meta.resolve('@toolyard/client')))
const names = (await readdir(dist)).filter(name => name.endsWith('.js'))
const texts = await Promise.all(names.map(name => readFile(`${dist}/${name}`, 'utf8')))

t.test('the client has less than 10 kB compressed, comments included', async t => {
  t.ok(names.length > 5, 'the files were read')
  const bytes = gzipSync(texts.join('\n')).length
  t.comment(`${bytes} bytes`)
  t.ok(bytes < 10_000, `${bytes} bytes`)
})

t.test('the client imports only its own files, and uses nothing that browsers lack', async t => {
  for (const [index, text] of texts.entries()) {
    t.strictSame([...text.matchAll(/(?:from|import) '([^']+)'/g)].map(([, from = '']) => from).filter(from => !from.startsWith('./')), [], String(names[index]))
    t.notMatch(text, /\bBuffer\b|node:|\brequire\(/, String(names[index]))
  }
})
