import { countReplicas } from '@toolyard/store'
import t from 'tap'

const slave = (nth: number, state: string, lag: number): string => `slave${nth}:ip=127.0.0.1,port=70${nth},state=${state},offset=1,lag=${lag}\r`

t.test('only replicas that are online and keep up count', async t => {
  t.equal(countReplicas('# Replication\r\nrole:master\r\nconnected_slaves:0\r\n'), 0)
  t.equal(countReplicas(['role:master\r', 'connected_slaves:4\r', slave(0, 'online', 0), slave(1, 'online', 11), slave(2, 'wait_bgsave', 0), slave(3, 'online', 1), 'master_replid:1'].join('\n')), 2)
})
