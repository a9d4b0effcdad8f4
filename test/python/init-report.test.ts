import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { linuxPython } from './fixture.ts'

t.test('any report of an init process is read as an end', linuxPython, async t => {
  const script = `
import random, sys
sys.path.insert(0, ${JSON.stringify(join(process.cwd(), 'packages/executors/python'))})
from toolyard._host.inner_init import read_report, report_pair
seed = random.randrange(1 << 32)
print("seed", seed)
random.seed(seed)
def ending(report):
    reader, writer = report_pair()
    if report is not None: writer.send(report)
    if random.random() < 0.5: writer.close()
    with reader, writer: return read_report(reader)
assert ending(None) == ending(b"") == ending(b"W") == ending(b"W\\0\\x7f") == {"signal": "SIGKILL"}
assert ending(b"W\\x03\\0") == {"exit": 3} and ending(b"W\\0\\x0b") == {"signal": "SIGSEGV"}
assert ending(b"Uno\\xff") == {"unboxed": "no\\ufffd"}
for _ in range(20000):
    told = ending(random.choice((b"", b"W", b"U", b"W\\0")) + random.randbytes(random.randrange(8)))
    (kind, value), = told.items()
    assert (kind == "exit" and 0 <= value < 256) or (kind in ("signal", "unboxed") and isinstance(value, str)), told
print("done")`
  const { stdout, stderr } = spawnSync('python3', ['-c', script], { encoding: 'utf8' })
  t.match(stdout, /done/, `${stdout}${stderr}`)
})
