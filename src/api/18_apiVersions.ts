/**
 * ApiVersions (18): which APIs in which versions are served. Served v0–5.
 *
 * - The table is made from what the handlers registered (served.ts), so it cannot name anything else.
 * - A version that is not served is answered in v0 with UNSUPPORTED_VERSION and this API's own range, so that the client can ask
 *   again (KIP-511); the dispatcher does that with `unsupportedVersion`. The response header is v0 in every version.
 * - v3: client software name and version must match [a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?, else INVALID_REQUEST.
 * - v5: a cluster or node that is not this one: REBOOTSTRAP_REQUIRED; a node without a cluster: INVALID_REQUEST (KIP-1242).
 *   Every address that Metadata names reaches exactly the node of that id.
 * - Features: metadata.version, a constant that clients print; transaction.version, finalized at 2 once every pod knows transactions
 *   (the metadata log's feature level, which is also the epoch of the features, so that pods never disagree): producers then use
 *   KIP-890; group.version, finalized at 1 in the same way: consumer groups (KIP-848).
 *
 * v1 throttle time · v3 flexible, features · v4 features whose minimum is 0 · v5 cluster and node id.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { serve, type RequestContext, type ServedApi } from './handler.ts'
import type { ApiParts } from './parts.ts'
import { servesConsumerGroups } from './support/consumerGroups.ts'
import { servesTransactions } from './support/transactions.ts'

type Request = RequestOf<18>
type ApiKeys = ResponseOf<18>['apiKeys']

const SOFTWARE = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/
/** Kafka's inter-broker level; 7 is the first that KRaft had, 29 that of 4.2. */
const TRANSACTION_VERSION = 2
/** 1: consumer groups (KIP-848). */
const GROUP_VERSION = 1
const METADATA_VERSION = { min: 7, max: 29 }

/** The handler for this list of APIs, itself included. */
export function apiVersions(others: readonly ServedApi[]): ServedApi<18> {
  const self = serve(18, { min: 0, max: 5 }, { handle, fail: (_request, error) => ({ errorCode: error, apiKeys: [], throttleTimeMs: 0 }) })
  const apiKeys: ApiKeys = [...others, self as unknown as ServedApi]
    .map(({ key, versions, advertisedMin }) => ({ apiKey: key, minVersion: advertisedMin, maxVersion: versions.max }))
    .sort((a, b) => a.apiKey - b.apiKey)
  return self

  function handle(request: Request, context: RequestContext, parts: ApiParts): ResponseOf<18> {
    const error = context.version < 3 ? Errors.NONE : requestError(request, parts)
    if (error !== Errors.NONE) return { errorCode: error, apiKeys: [], throttleTimeMs: 0 }
    return {
      errorCode: Errors.NONE,
      apiKeys,
      throttleTimeMs: 0,
      supportedFeatures: supportedFeatures(context.version),
      finalizedFeaturesEpoch: parts.metadata.state.level,
      finalizedFeatures: finalizedFeatures(parts),
    }
  }
}

/** Before v4 clients cannot read a feature that begins at 0 (KAFKA-17492). */
export function supportedFeatures(version: number): NonNullable<ResponseOf<18>['supportedFeatures']> {
  const all = [
    { name: 'metadata.version', minVersion: METADATA_VERSION.min, maxVersion: METADATA_VERSION.max },
    { name: 'transaction.version', minVersion: 0, maxVersion: TRANSACTION_VERSION },
    { name: 'group.version', minVersion: 0, maxVersion: GROUP_VERSION },
  ]
  return all.filter(({ minVersion }) => version >= 4 || minVersion > 0)
}

/** What is in force now. */
export function finalizedFeatures(parts: ApiParts): NonNullable<ResponseOf<18>['finalizedFeatures']> {
  const level = (name: string, value: number) => ({ name, maxVersionLevel: value, minVersionLevel: value })
  const features = [level('metadata.version', METADATA_VERSION.max)]
  if (servesTransactions(parts)) features.push(level('transaction.version', TRANSACTION_VERSION))
  if (servesConsumerGroups(parts)) features.push(level('group.version', GROUP_VERSION))
  return features
}

function requestError(request: Request, parts: ApiParts): number {
  if (!SOFTWARE.test(request.clientSoftwareName) || !SOFTWARE.test(request.clientSoftwareVersion)) return Errors.INVALID_REQUEST
  const { clusterId, nodeId } = request
  if (clusterId === null) return nodeId === -1 ? Errors.NONE : Errors.INVALID_REQUEST
  const elsewhere = clusterId !== parts.metadata.state.clusterId || (nodeId !== -1 && nodeId !== parts.metadata.nodeId)
  return elsewhere ? Errors.REBOOTSTRAP_REQUIRED : Errors.NONE
}

/** The v0 answer to a version that is not served. */
export function unsupportedVersion(self: ServedApi): ResponseOf<18> {
  return {
    errorCode: Errors.UNSUPPORTED_VERSION,
    apiKeys: [{ apiKey: self.key, minVersion: self.versions.min, maxVersion: self.versions.max }],
  }
}
