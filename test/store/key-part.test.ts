import { approvalDigest } from '@toolyard/queue'
import { keyId, keyPart } from '@toolyard/store'
import t from 'tap'

/*
 * Each release compares these texts with those that another one has written. Where one of them changes, no release can approve
 * what another one holds. So a change must go on reading the texts of before: give the new ones another beginning.
 */

t.test('a key is named in an approval as releases of before named it, so that calls that they hold can be approved', async t => {
  const key = { role: 'admin', tenant: 'a', queueAllowlist: ['q'], permissions: ['read_repo'] } as const
  t.equal(keyPart(undefined, { role: 'admin' }), 'settings:8tMUYb6LVlVSwW-7I4HkDs-_fAROyjib6-K0XJqJeCo')
  t.equal(keyPart(keyId('digest'), key), 'redis:IAz9knyH6F7qFpWhrvmWhR7LU0Hp6sqYRcMc6yh1dSM')
  t.equal(keyPart(keyId('digest'), { ...key, namespaces: ['n'] }), 'redis:8vprJKezpmRLZ52LjW74odRizum7JooJf5ynSwtAaH0')
  t.equal(keyPart(keyId('digest'), { ...key, namespaces: ['n'], hosts: ['example.com'] }), 'redis:-BpxZhix3xg7i7C-N-1HfalavDYahHJm9-AIIzLu6Lg')
})

t.test('what is approved is named as releases of before named it', async t => {
  const data = { tool: 'pay', arguments: { amount: 7 }, keyName: 'agent', tenant: 'a', timeoutSec: 30, tags: [] }
  t.equal(approvalDigest(data, { entry: 'entry', program: null, key: 'settings:key' }), 'ce8cd0bfa359dcd9896b6b4b528a6edb9e8017ae9709fdf38c02a69d881d3ff9')
})
