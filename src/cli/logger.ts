import { pino } from 'pino'
import pretty from 'pino-pretty'
import type { Logger } from '../base/log.ts'

/** Errors stand under `err`, and under `error` beside another. */
const serializers = { err: pino.stdSerializers.err, error: pino.stdSerializers.err }

/** Logs to standard error: readable on a terminal, JSON lines otherwise. */
export function makeLogger(level: string): Logger {
  if (process.stderr.isTTY)
    return pino({ level, serializers }, pretty({ destination: 2, sync: true, ignore: 'pid,hostname', translateTime: 'SYS:HH:MM:ss.l' }))
  return pino({ level, serializers, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: false }))
}
