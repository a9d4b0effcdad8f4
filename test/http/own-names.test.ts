import { existsSync, lstatSync, lutimesSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { FileList } from '@toolyard/contract'
import { injectService } from '../support/injected.ts'
import { testKeys } from '../support/service.ts'

const { app, env } = await injectService(t, { workers: 0 })
const at = (...names: string[]): string => join(String(env['WORKSPACE_DIR']), ...names)
const url = await app.listen({ port: 0, host: '127.0.0.1' })
const ask = async (method: string, path: string, body?: string): Promise<Response> => {
  return await fetch(`${url}/v1/files${path}`, { method, headers: { 'x-api-key': testKeys.admin }, ...body === undefined ? {} : { body } })
}
const put = async (path: string, body: string): Promise<Response> => await ask('PUT', path, body)
const codeOf = async (answer: Response): Promise<string> => `${answer.status} ${(await answer.json() as { error: { code: string } }).error.code}`

t.test('what a killed process began to write is gone once its directory is listed', async t => {
  await put('/begun/file', 'x')
  const [left, coming] = ['0', '1'].map(digit => at('begun', `.toolyard-${digit.repeat(32)}.tmp`)) as [string, string]
  for (const path of [left, coming]) writeFileSync(path, 'x')
  utimesSync(left, new Date(Date.now() - 600_000), new Date(Date.now() - 600_000))
  const { entries } = await (await ask('GET', '/begun')).json() as { entries: object[] }
  t.equal(entries.length, 1)
  t.same([existsSync(left), existsSync(coming)], [false, true])
})

t.test('a name of our own files in the making is nobody\'s to use, and a tool\'s directory of such a name is one like any other', async t => {
  const name = `.toolyard-${'0'.repeat(32)}.tmp`
  for (const path of [`/${name}`, `/${name}/file`, `/new/${name}`, `/new/${name}/below/file`]) t.equal(await codeOf(await put(path, 'x')), '403 FORBIDDEN', path)
  t.notOk(existsSync(at('new')))
  writeFileSync(at(name), 'x')
  for (const method of ['GET', 'DELETE']) t.equal(await codeOf(await ask(method, `/${name}`)), '403 FORBIDDEN', method)
  rmSync(at(name))
  mkdirSync(at(name))
  writeFileSync(at(name, 'file'), 'x')
  t.match((await (await ask('GET', '/')).json() as FileList).entries.map(entry => entry.name).includes(name), true)
  t.equal(await (await ask('GET', `/${name}/file`)).text(), 'x')
  t.equal((await ask('DELETE', `/${name}?recursive=true`)).status, 204)
})

t.test('what a tool plants under such a name, dated in the future or as a link, is removed like what was left', async t => {
  const [file, link] = ['0', '1'].map(digit => at(`.toolyard-${digit.repeat(32)}.tmp`)) as [string, string]
  writeFileSync(file, 'x')
  symlinkSync('nowhere', link)
  utimesSync(file, 5e9, 5e9)
  lutimesSync(link, 1e9, 1e9)
  t.equal((await ask('GET', '/')).status, 200)
  t.same([file, link].filter(path => lstatSync(path, { throwIfNoEntry: false }) !== undefined), [])
})
