/**
 * The border of the room: requests and responses by API key and version. Bodies, headers and whole frames (int32 size, header, body).
 * Everything throws ProtocolError: 'unsupported' for a key or version without a definition, 'malformed' or 'limit' for bad bytes or values.
 */
import { decodeMessage, encodeMessage, encodeMessages } from './codec/codec.ts'
import type { Encoded } from './codec/write.ts'
import { requestHeader, requestHeaderVersion, responseHeader, responseHeaderVersion } from './headers.ts'
import { ProtocolError } from './protocolError.ts'
import { apis, isApiKey } from './registry.ts'
import type { ApiKey, Apis, RequestOf, ResponseOf } from './registry.ts'
import type { Api, MessageInput, MessageOf } from './schema.ts'
import { parseVersions } from './versions.ts'
import type { VersionRange } from './versions.ts'

export { decodeMessage, encodeMessage } from './codec/codec.ts'
export type { DecodedAt } from './codec/codec.ts'
export type { Encoded } from './codec/write.ts'
export { Errors, errorName } from './errors.ts'
export type { ErrorName, KafkaErrorCode } from './errors.ts'
export { ProtocolError } from './protocolError.ts'
export { apis, isApiKey } from './registry.ts'
export type { ApiKey, Apis, RequestOf, ResponseOf } from './registry.ts'
export type { Api, Message, MessageInput, MessageOf, UnknownTag } from './schema.ts'
export type { VersionRange } from './versions.ts'

/** The definition of an API. */
export function apiOf(apiKey: number): Api {
  if (!isApiKey(apiKey)) throw new ProtocolError('unsupported', `API key ${apiKey} has no definition`)
  return apis[apiKey]
}

/** The versions that decode. */
export function servedVersions(apiKey: number): VersionRange {
  return parseVersions(apiOf(apiKey).request.validVersions)
}

/** The versions ApiVersions tells: without one that is not final in Kafka 4.4, and with those that old clients must see (KAFKA-18659). */
export function advertisedVersions(apiKey: number): VersionRange {
  const { latestVersionUnstable, advertisedMinVersion } = apiOf(apiKey)
  const { min, max } = servedVersions(apiKey)
  return { min: advertisedMinVersion ?? min, max: latestVersionUnstable ? max - 1 : max }
}

/** The header versions of a request and its response. */
export function headerVersion(apiKey: number, apiVersion: number): { request: 1 | 2; response: 0 | 1 } {
  const api = apiOf(apiKey)
  return { request: requestHeaderVersion(api, apiVersion), response: responseHeaderVersion(api, apiVersion) }
}

export interface RequestHeaderAt {
  apiKey: number
  apiVersion: number
  correlationId: number
  clientId: string | null
  /** Where the body starts. */
  bodyAt: number
}

/**
 * Decodes the header of a request whose frame (without its size) starts at `at`. The version need not be a served one, so that ApiVersions
 * can be answered in any; for an API without a definition nothing after the correlation id can be known: 'unsupported'.
 */
export function decodeRequestHeader(buf: Buffer, at = 0): RequestHeaderAt {
  if (buf.length - at < 8) throw new ProtocolError('malformed', `a request header needs 8 bytes, ${buf.length - at} remain`)
  const apiKey = buf.readInt16BE(at)
  const apiVersion = buf.readInt16BE(at + 2)
  const { value, end } = decodeMessage(requestHeader, requestHeaderVersion(apiOf(apiKey), apiVersion), buf, at)
  return { apiKey, apiVersion, correlationId: value.correlationId, clientId: value.clientId, bodyAt: end }
}

/** Decodes a request body that starts at `at`; bytes after it are left alone. Fields of type bytes and records are views of `buf`. */
export function decodeRequest<K extends ApiKey>(apiKey: K, version: number, buf: Buffer, at = 0): RequestOf<K> {
  return decodeMessage(apiOf(apiKey).request, version, buf, at).value as RequestOf<K>
}

/** Encodes a response body. */
export function encodeResponse<K extends ApiKey>(apiKey: K, version: number, value: ResponseOf<K>): Encoded {
  return encodeMessage(apiOf(apiKey).response, version, value as never)
}

/** Encodes a whole response frame: size, header, body. */
export function encodeResponseFrame<K extends ApiKey>(apiKey: K, version: number, correlationId: number, value: ResponseOf<K>): Encoded {
  const api = apiOf(apiKey)
  const header = { message: responseHeader, version: responseHeaderVersion(api, version), value: { correlationId } }
  return encodeMessages([header, { message: api.response, version, value }], true)
}

/** Encodes a request body (for clients and tests). */
export function encodeRequest<K extends ApiKey>(apiKey: K, version: number, value: MessageInput<Apis[K]['request']>): Encoded {
  return encodeMessage(apiOf(apiKey).request, version, value as never)
}

/** Encodes a whole request frame: size, header, body (for clients and tests). */
export function encodeRequestFrame<K extends ApiKey>(
  header: { apiKey: K; apiVersion: number; correlationId: number; clientId: string | null },
  value: MessageInput<Apis[K]['request']>,
): Encoded {
  const { apiKey, apiVersion, correlationId, clientId } = header
  const api = apiOf(apiKey)
  const headerValue: MessageInput<typeof requestHeader> = { requestApiKey: apiKey, requestApiVersion: apiVersion, correlationId, clientId }
  const headerPart = { message: requestHeader, version: requestHeaderVersion(api, apiVersion), value: headerValue }
  return encodeMessages([headerPart, { message: api.request, version: apiVersion, value }], true)
}

/** Decodes a response body (for clients and tests). */
export function decodeResponse<K extends ApiKey>(apiKey: K, version: number, buf: Buffer, at = 0): MessageOf<Apis[K]['response']> {
  return decodeMessage(apiOf(apiKey).response, version, buf, at).value as MessageOf<Apis[K]['response']>
}

/** Decodes the header of a response (for clients and tests): the correlation id, and where the body starts. */
export function decodeResponseHeader(apiKey: number, version: number, buf: Buffer, at = 0): { correlationId: number; bodyAt: number } {
  const { value, end } = decodeMessage(responseHeader, responseHeaderVersion(apiOf(apiKey), version), buf, at)
  return { correlationId: value.correlationId, bodyAt: end }
}
