import http from 'node:http'
import https from 'node:https'
import { S3Client } from '@aws-sdk/client-s3'
import { NodeHttpHandler } from '@smithy/node-http-handler'
import type { S3Spec } from '../store.ts'

/** Connections kept to the store; more requests than that wait their turn. */
export const SOCKETS_MAX = 128
const CONNECT_MS = 3000
/** Below the idle time after which servers and load balancers close a connection (20 s at AWS). */
const IDLE_SOCKET_MS = 12_000

/**
 * An SDK client that does what it is told once: retries, time limits and checksums are ours (attempts.ts, store.ts).
 *
 * Bodies carry a CRC-32C that we compute (hardware speed) and are signed as UNSIGNED-PAYLOAD: the SHA-256 that signing would
 * otherwise take costs more event loop than everything else of a put. Answers are not checked here: what is read has checksums
 * of its own (WAL batches, log entries, rows), and ranges have none in S3. No `Expect: 100-continue`: a round trip a put.
 */
export function s3Client(spec: S3Spec): S3Client {
  const agent = { keepAlive: true, maxSockets: SOCKETS_MAX, maxFreeSockets: SOCKETS_MAX, timeout: IDLE_SOCKET_MS, noDelay: true } as const
  const client = new S3Client({
    ...(spec.region === null ? {} : { region: spec.region }),
    ...(spec.endpoint === null ? {} : { endpoint: spec.endpoint }),
    forcePathStyle: spec.pathStyle,
    maxAttempts: 1,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    expectContinueHeader: false,
    requestHandler: new NodeHttpHandler({
      connectionTimeout: CONNECT_MS,
      httpAgent: new http.Agent(agent),
      httpsAgent: new https.Agent(agent),
      // our own limit of requests is below this many sockets; the warning would only repeat it
      socketAcquisitionWarningTimeout: 60_000,
    }),
  })
  client.middlewareStack.add(
    (next, context) => (args) => {
      const request = args.request as { headers: Record<string, string> }
      if (UNSIGNED.has(context.commandName ?? '')) request.headers['x-amz-content-sha256'] = 'UNSIGNED-PAYLOAD'
      return next(args)
    },
    { step: 'build', name: 'unsignedPayload' },
  )
  return client
}

const UNSIGNED: ReadonlySet<string> = new Set(['PutObjectCommand', 'UploadPartCommand'])
