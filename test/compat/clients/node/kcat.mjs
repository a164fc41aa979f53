// kcat as a reader of the records of test/compat: keys and values by length, headers left out (its text form is ambiguous).
import { execFileSync } from 'node:child_process'
import { action, Digest, numbers, options } from './common.mjs'

if (action === 'time') {
  const out = execFileSync(
    'kcat',
    ['-b', options.bootstrap, '-Q', '-t', `${options.topic}:${options.partition ?? 0}:${options.timestamp}`],
    { encoding: 'utf8' },
  )
  console.log(/offset (-?\d+)/.exec(out)[1])
} else {
  const counts = numbers(options.counts)
  const starts = numbers(options.start)
  const digest = new Digest(counts.length)
  for (const [partition, count] of counts.entries()) {
    const args = [
      '-C',
      '-q',
      '-b',
      options.bootstrap,
      '-t',
      options.topic,
      '-p',
      String(partition),
      '-o',
      String(starts[partition] ?? 0),
      '-c',
      String(count),
      '-f',
      '%o %T %K %S %k%s\n',
    ]
    const out = execFileSync('kcat', args, { maxBuffer: 1 << 28 })
    let at = 0
    for (let n = 0; n < count; n++) {
      const head = []
      for (let field = 0; field < 4; field++) {
        const end = out.indexOf(0x20, at)
        head.push(Number(out.subarray(at, end).toString()))
        at = end + 1
      }
      const take = (length) => {
        if (length < 0) return null
        at += length
        return out.subarray(at - length, at)
      }
      // kcat prints the length of a null key or value as -1
      const key = take(head[2])
      const value = take(head[3])
      at += 1
      digest.add(partition, head[0], head[1], key, value, [])
    }
  }
  digest.show()
}
