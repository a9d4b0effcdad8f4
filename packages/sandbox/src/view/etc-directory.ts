import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { kindOf } from './path.ts'

/** Files of /etc that programs of all kinds read, and that tell nothing about the machine's users, keys or network. */
const copied = [
  'ImageMagick-6', 'ImageMagick-7', 'fonts', 'libreoffice', 'papersize',
  'alternatives', 'gai.conf', 'host.conf', 'ld.so.cache', 'ld.so.conf', 'ld.so.conf.d', 'localtime', 'magic', 'mime.types',
  'nsswitch.conf', 'os-release', 'protocols', 'services', 'ssl/openssl.cnf', 'timezone'
] as const

/** Where Debian has the settings of Java, which doesn't read a file without its `java.security`. */
const ofJava = /^java-\d+-openjdk$/

/** Places where the files of the network are mounted. */
const places = { files: ['resolv.conf', 'hosts'], directories: ['ssl/certs', 'pki/tls/certs', 'pki/ca-trust'] } as const

/**
 * Makes the /etc of the box: copies of a few harmless files, and only the users and groups of the box. One
 * directory for all calls, because each mount costs a third of a millisecond.
 *
 * @returns its path, below `directory`
 */
export function makeEtcDirectory (directory: string, home: string): string {
  const etc = join(directory, 'etc')
  for (const place of places.directories) mkdirSync(join(etc, place), { recursive: true, mode: 0o755 })
  for (const name of [...copied, ...readdirSync('/etc').filter(name => ofJava.test(name))]) {
    const source = join('/etc', name)
    if (kindOf(source) !== 'none') cpSync(source, join(etc, name), { recursive: true, verbatimSymlinks: true, filter: isWanted })
  }
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const write = (name: string, text: string): void => { writeFileSync(join(etc, name), text, { mode: 0o644 }) }
  for (const place of places.files) write(place, '')
  write('hosts', '127.0.0.1 localhost\n::1 localhost\n')
  write('passwd', `tool:x:${uid}:${gid}::${home}:/usr/sbin/nologin\nnobody:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`)
  write('group', `tool:x:${gid}:\nnogroup:x:65534:\n`)
  return etc
}

/**
 * Four of five links in `alternatives` are those of manual pages, and each costs a worker's start a fifth of a millisecond. Passwords for
 * those who look into a Java program from afar are below `management`.
 */
function isWanted (path: string): boolean {
  return !path.endsWith('.gz') && !path.endsWith('/management')
}
