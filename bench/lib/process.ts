import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** CPU seconds, user and system, that a process with all its threads used so far. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024
}

/** Runs a shell line with the suites' functions (python_env, java_jars, …) and gives what it prints. */
export function shell(line: string): string {
  return execFileSync('bash', ['-c', `set -euo pipefail; source "${root}/test/compat/lib/env.sh"; ${line}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  }).trim()
}

/** Folder of Apache Kafka's jars, fetched from Maven Central once. */
export function kafkaJars(): string {
  const jars = shell(`java_jars kafka-peer "${root}/bench/lib/kafka-pom.xml"`)
  const config = join(jars, 'log4j2.properties')
  writeFileSync(
    config,
    'status = error\nappender.err.type = Console\nappender.err.name = err\nappender.err.target = SYSTEM_ERR\nappender.err.layout.type = PatternLayout\nappender.err.layout.pattern = [%d] %p %m (%c)%n\nrootLogger.level = warn\nrootLogger.appenderRef.err.ref = err\n',
  )
  return jars
}

export function javaArgs(jars: string, heap: string, className: string, args: readonly string[], config = jars): string[] {
  return [
    `-Xmx${heap}`,
    `-Dlog4j2.configurationFile=${config}/log4j2.properties`,
    '-XX:-UsePerfData',
    '-cp',
    `${jars}/*`,
    className,
    ...args,
  ]
}

export interface Finished {
  readonly output: string
  readonly seconds: number
  readonly cpuSeconds: number
}

/** Runs a program on the given cores to its end, within a time limit. */
export async function run(cores: string, command: string, args: readonly string[], timeoutMs = 300_000): Promise<Finished> {
  const begun = performance.now()
  const child: ChildProcess = spawn('taskset', ['-c', cores, command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let errors = ''
  child.stdout!.on('data', (data: Buffer) => (output += data.toString()))
  child.stderr!.on('data', (data: Buffer) => (errors += data.toString()))
  let used = 0
  const sampler = setInterval(() => {
    try {
      used = cpuSeconds(child.pid!)
    } catch {
      // the process is gone: the last sample stands
    }
  }, 200)
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  clearInterval(sampler)
  clearTimeout(timer)
  if (code !== 0) throw new Error(`${command} ${args.slice(-12).join(' ')} ended with ${code}: ${errors.slice(-800)}${output.slice(-400)}`)
  return { output, seconds: (performance.now() - begun) / 1000, cpuSeconds: used }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}
