/**
 * `npm run secrets`: makes the secrets that docker-compose.yml mounts, once, in `.toolyard/secrets` or the directory that
 * is given: a password for Redis, as an address for Toolyard and as an ACL with its digest for Redis, and an admin key.
 * `--redis HOST` is where Redis will be; without it, `redis` as in docker-compose.yml.
 * The directory is closed to others; the files in it are readable, because containers run as users of their own.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values: { redis: host }, positionals: [given] } = parseArgs({ options: { redis: { type: 'string', default: 'redis' } }, allowPositionals: true })
const directory = resolve(given ?? '.toolyard/secrets')
const password = randomBytes(32).toString('base64url')
const digest = createHash('sha256').update(password).digest('hex')

/** All that Toolyard uses of Redis: its own keys and channels, and nothing that an administrator does but to look. */
const rights = '~toolyard:* &toolyard:* +@all -@admin -@dangerous +info +role +client|list +client|setname'
/** Without a password, a connection can do no more than ask whether Redis is alive: the health check needs none. */
const acl = `user default on nopass sanitize-payload resetkeys resetchannels -@all +ping
user toolyard on sanitize-payload #${digest} resetkeys resetchannels ${rights}
`
const keys = [{ name: 'admin', key: randomBytes(32).toString('base64url'), role: 'admin' }]

const files = {
  redis_url: `redis://toolyard:${password}@${host}:6379\n`,
  redis_acl: acl,
  api_keys: `${JSON.stringify(keys, undefined, 2)}\n`
}

mkdirSync(directory, { recursive: true, mode: 0o700 })
const there = Object.keys(files).filter(name => existsSync(join(directory, name)))
if (there.length > 0) {
  console.error(`${directory} has ${there.join(', ')} already: nothing was changed`)
  process.exitCode = 1
} else {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text, { mode: 0o444 })
  console.log(`Made ${Object.keys(files).join(', ')} in ${directory}`)
}
