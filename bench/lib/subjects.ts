import { spawn, type ChildProcess } from 'node:child_process'
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kafka, logLevel } from 'kafkajs'
import { freePort } from '../../test/lib/broker.ts'
import { cpuSeconds, javaArgs, root, run, sleep } from './process.ts'

/** A broker under measurement: Frazil or its peer, on a core of its own. */
export interface Subject {
  readonly name: string
  readonly bootstrap: string
  readonly pid: number
  start(): Promise<void>
  stop(): Promise<void>
  destroy(): Promise<void>
}

abstract class ProcessSubject implements Subject {
  abstract readonly name: string
  readonly folder = mkdtempSync(join(tmpdir(), 'frazil-bench-'))
  readonly cores: string
  port = 0
  #child: ChildProcess | null = null

  constructor(cores: string) {
    this.cores = cores
  }

  abstract command(): Promise<readonly string[]>
  abstract ready(): Promise<boolean>

  get bootstrap(): string {
    return `127.0.0.1:${this.port}`
  }

  get pid(): number {
    return this.#child!.pid!
  }

  async start(): Promise<void> {
    this.port ||= await freePort()
    const log = createWriteStream(join(this.folder, 'log'), { flags: 'a' })
    const child = spawn('taskset', ['-c', this.cores, ...(await this.command())], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.pipe(log)
    child.stderr.pipe(log)
    this.#child = child
    const deadline = Date.now() + 60_000
    while (!(await this.ready())) {
      if (child.exitCode !== null || Date.now() > deadline) throw new Error(`${this.name} did not start; see ${this.folder}/log`)
      await sleep(100)
    }
  }

  async stop(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    const killer = setTimeout(() => child.kill('SIGKILL'), 20_000)
    await gone
    clearTimeout(killer)
  }

  async destroy(): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export class FrazilSubject extends ProcessSubject {
  readonly name = 'frazil'
  readonly settings: Readonly<Record<string, string>>
  httpPort = 0

  constructor(cores: string, settings: Readonly<Record<string, string>> = {}) {
    super(cores)
    this.settings = settings
  }

  async command(): Promise<readonly string[]> {
    this.httpPort ||= await freePort()
    const flags = Object.entries({
      listeners: `PLAINTEXT://127.0.0.1:${this.port}`,
      http: `127.0.0.1:${this.httpPort}`,
      store: `file:${join(this.folder, 'data')}`,
      pod: 'bench',
      'log-level': 'warn',
      ...this.settings,
    }).flatMap(([name, value]) => [`--${name}`, value])
    return [process.execPath, join(root, 'bin/frazil.js'), 'serve', ...flags]
  }

  get http(): string {
    return `http://127.0.0.1:${this.httpPort}`
  }

  ready(): Promise<boolean> {
    return fetch(`${this.http}/health/ready`).then(
      (answer) => answer.ok,
      () => false,
    )
  }

  async metric(name: string): Promise<number> {
    const text = await (await fetch(`${this.http}/metrics`)).text()
    return text
      .split('\n')
      .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
      .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0)
  }
}

export class KafkaSubject extends ProcessSubject {
  readonly name = 'kafka'
  readonly jars: string
  readonly settings: Readonly<Record<string, string>>
  #formatted = false
  #controllerPort = 0

  constructor(cores: string, jars: string, settings: Readonly<Record<string, string>> = {}) {
    super(cores)
    this.jars = jars
    this.settings = settings
  }

  async command(): Promise<readonly string[]> {
    this.#controllerPort ||= await freePort()
    const file = join(this.folder, 'server.properties')
    const listeners = `PLAINTEXT://127.0.0.1:${this.port},CONTROLLER://127.0.0.1:${this.#controllerPort}`
    const properties = {
      'process.roles': 'broker,controller',
      'node.id': '1',
      listeners,
      'advertised.listeners': listeners,
      'controller.listener.names': 'CONTROLLER',
      'controller.quorum.bootstrap.servers': `127.0.0.1:${this.#controllerPort}`,
      'log.dirs': join(this.folder, 'data'),
      'offsets.topic.replication.factor': '1',
      'offsets.topic.num.partitions': '4',
      'transaction.state.log.replication.factor': '1',
      'transaction.state.log.min.isr': '1',
      'transaction.state.log.num.partitions': '4',
      'group.initial.rebalance.delay.ms': '0',
      ...this.settings,
    }
    writeFileSync(
      file,
      Object.entries(properties)
        .map(([key, value]) => `${key}=${value}\n`)
        .join(''),
    )
    if (!this.#formatted) {
      this.#formatted = true
      await run(
        '0,1',
        'java',
        javaArgs(this.jars, '256m', 'kafka.tools.StorageTool', ['format', '--standalone', '-t', 'AAAAAAAAAAAAAAAAAAAAAQ', '-c', file]),
      )
    }
    return ['java', '-Xms1g', '-XX:+UseG1GC', '-XX:MaxGCPauseMillis=20', ...javaArgs(this.jars, '1g', 'kafka.Kafka', [file])]
  }

  async ready(): Promise<boolean> {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (open) await sleep(1500)
    return open
  }
}

/** Makes a topic; Kafka's own TopicCommand refuses config names that it does not know itself. */
export async function createTopic(
  subject: Subject,
  topic: string,
  partitions: number,
  configs: Readonly<Record<string, string>> = {},
): Promise<void> {
  const admin = new Kafka({ brokers: [subject.bootstrap], logLevel: logLevel.NOTHING }).admin()
  await admin.connect()
  const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
  await admin.createTopics({ topics: [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }], waitForLeaders: true })
  await admin.disconnect()
}

/** CPU seconds a subject spends while `body` runs. */
export async function spent<T>(subject: Subject, body: () => Promise<T>): Promise<{ readonly value: T; readonly cpu: number }> {
  const before = cpuSeconds(subject.pid)
  const value = await body()
  return { value, cpu: cpuSeconds(subject.pid) - before }
}
