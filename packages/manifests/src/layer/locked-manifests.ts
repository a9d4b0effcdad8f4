import { basename, dirname, join, resolve } from 'node:path'
import { asError, errorCode } from '@toolyard/contract/terms'
import { readFileBytes } from '../document/manifest-file.ts'
import type { Finding } from '../finding/finding.ts'
import type { AuditStatus } from '../tool/audit-status.ts'
import type { Layer } from './layer.ts'
import { lockName, type LockFile, type ReadLock } from './lock/lock-file.ts'
import { signatureFault } from './lock/minisign.ts'
import { treeDigest } from './lock/tree-digest.ts'

/** For all that isn't in the lock. */
export interface LockPolicy {
  /** Absolute path of the lock of manifests that are named by themselves. */
  file: string
  /** Only what a lock has is served, as it has it. */
  isRequired: boolean
  /** Public keys of minisign; a lock must be signed by one of them where it is required. */
  trustedKeys: readonly string[]
}

/** A manifest to read, or a layer in its place that says why it isn't read. */
export type LockedManifest = NamedManifest | { layer: Layer }

interface NamedManifest {
  path: string
  findings: readonly Finding[]
  files: readonly string[]
  /** Present for what the lock has. */
  audit?: AuditStatus
}

const rule = 'lock/differs'
const look = 'Look at what changed, then run toolyard update, or toolyard add for what is new.'

/**
 * The manifests that a list names: a lock stands for everything that was added. What differs from its lock is told, and
 * isn't served where a lock is required.
 */
export async function lockedManifests (named: readonly string[], policy: LockPolicy, readLock: ReadLock): Promise<LockedManifest[]> {
  const found: LockedManifest[] = []
  let own: Promise<TrustedLock> | undefined
  for (const path of named) {
    if (basename(path) === lockName) found.push(...await entriesOf(resolve(path), policy, readLock))
    else if (!policy.isRequired) found.push({ path, findings: [], files: [] })
    else found.push(await required(resolve(path), policy.file, await (own ??= readTrusted(policy.file, policy, readLock))))
  }
  return found
}

async function entriesOf (file: string, policy: LockPolicy, readLock: ReadLock): Promise<LockedManifest[]> {
  const lock = await readTrusted(file, policy, readLock)
  if (!lock.ok) return [{ layer: refused(file, lock.fault) }]
  const own: LockedManifest[] = [{ layer: { entries: [], findings: [], files: [file, `${file}.minisig`] } }]
  for (const [name, { path, digest, status }] of lock.entries) {
    const place = join(dirname(file), path)
    const fault = await differs(place, digest)
    if (fault === undefined) own.push({ path: place, findings: [], files: [], audit: status })
    else if (policy.isRequired) own.push({ layer: refused(place, `${JSON.stringify(name)} is not served: ${fault}`) })
    // Nobody has trusted what it is now.
    else own.push({ path: place, findings: [{ severity: 'warning', file: place, rule, message: `${JSON.stringify(name)} ${fault}`, fix: look }], files: [], audit: 'experimental' })
  }
  return own
}

/** A manifest that is named by itself must be in the lock with that path. */
async function required (path: string, file: string, lock: TrustedLock): Promise<LockedManifest> {
  if (!lock.ok) return { layer: refused(path, `is not served (LOCK=require): ${file} ${lock.fault}`) }
  const entry = [...lock.entries].find(([, { path: own }]) => join(dirname(file), own) === path)
  if (entry === undefined) return { layer: refused(path, `is not served (LOCK=require): ${file} does not have it`) }
  const fault = await differs(path, entry[1].digest)
  return fault === undefined ? { path, findings: [], files: [file], audit: entry[1].status } : { layer: refused(path, `is not served (LOCK=require): ${fault}`) }
}

type TrustedLock = { ok: true, entries: LockFile['entries'] } | { ok: false, fault: string }

/** A lock that has to be signed must be so by a key of the operator; a signature that is there must hold. */
async function readTrusted (file: string, { isRequired, trustedKeys }: LockPolicy, readLock: ReadLock): Promise<TrustedLock> {
  try {
    if (trustedKeys.length > 0) {
      const content = await readFileBytes(file)
      const signature = (await readFileBytes(`${file}.minisig`).catch(() => undefined))?.toString()
      const fault = signature === undefined ? 'is missing' : signatureFault(content, signature, trustedKeys)
      if (fault !== undefined && (isRequired || signature !== undefined)) return { ok: false, fault: `its signature ${fault}` }
    }
    return { ok: true, entries: (await readLock(file)).entries }
  } catch (error) {
    return { ok: false, fault: errorCode(error) === 'ENOENT' ? 'is missing' : asError(error).message }
  }
}

async function differs (path: string, digest: string): Promise<string | undefined> {
  try {
    const now = await treeDigest(path)
    return now === digest ? undefined : `differs from the lock: it is ${now}, and was accepted as ${digest}`
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? 'is missing' : asError(error).message
  }
}

function refused (file: string, message: string): Layer {
  return { entries: [], findings: [{ severity: 'error', whole: true, file, rule, message, fix: look }], files: [file] }
}
