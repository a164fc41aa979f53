/**
 * UpdateFeatures (57): finalized features (KIP-584). Served v0–2.
 *
 * - Features follow from what all pods know (L5): they rise by themselves and never fall. To the level that a feature has: NONE, as Kafka
 *   answers; anything else: INVALID_UPDATE_VERSION for the whole request, in Kafka's words where Kafka refuses too.
 *
 * v0 is flexible · v1 kinds of upgrades, validate-only · v2 no results by feature.
 */
import { Errors, type RequestOf, type ResponseOf } from '../../protocol/index.ts'
import { finalizedFeatures, supportedFeatures } from './18_apiVersions.ts'
import { serve, type RequestContext } from './handler.ts'
import type { ApiParts } from './parts.ts'

export default serve(57, { min: 0, max: 2 }, { handle, fail: (_request, error) => refused(error, null) })

type Update = RequestOf<57>['featureUpdates'][number]

const UPGRADE = 1
const SAFE_DOWNGRADE = 2
const UNSAFE_DOWNGRADE = 3

function handle(request: RequestOf<57>, context: RequestContext, parts: ApiParts): ResponseOf<57> {
  for (const update of request.featureUpdates) {
    const kind = context.version === 0 && update.allowDowngrade ? SAFE_DOWNGRADE : update.upgradeType
    const problem = problemOf(update, kind, parts)
    if (problem === null) continue
    const all = 'The update failed for all features since the following feature had an error: '
    return refused(
      Errors.INVALID_UPDATE_VERSION,
      `${all}Invalid update version ${update.maxVersionLevel} for feature ${update.feature}. ${problem}`,
    )
  }
  const results = request.featureUpdates.map(({ feature }) => ({ feature, errorCode: Errors.NONE, errorMessage: 'NONE' }))
  return { throttleTimeMs: 0, errorCode: Errors.NONE, errorMessage: null, results: context.version < 2 ? results : [] }
}

function problemOf({ feature, maxVersionLevel: level }: Update, kind: number, parts: ApiParts): string | null {
  if (kind !== UPGRADE && kind !== SAFE_DOWNGRADE && kind !== UNSAFE_DOWNGRADE)
    return 'The controller does not support the given upgrade type.'
  if (level < 0) return 'A feature version cannot be less than 0.'
  const controller = `Local controller ${parts.metadata.nodeId}`
  const supported = supportedFeatures(Infinity).find(({ name }) => name === feature)
  if (supported === undefined) return level === 0 ? `Feature ${feature} not found.` : `${controller} does not support this feature.`
  const { minVersion = 0, maxVersion = 0 } = supported
  if (level < minVersion || level > maxVersion) return `${controller} only supports versions ${minVersion}-${maxVersion}`
  const current = finalizedFeatures(parts).find(({ name }) => name === feature)?.maxVersionLevel ?? 0
  if (level === current) return null
  if (level > current) return 'Features rise by themselves once every pod knows them.'
  return kind === UPGRADE
    ? "Can't downgrade the version of this feature without setting the upgrade type to either safe or unsafe downgrade."
    : 'Refusing to perform the requested downgrade because it might delete metadata information.'
}

function refused(errorCode: number, errorMessage: string | null): ResponseOf<57> {
  return { throttleTimeMs: 0, errorCode, errorMessage, results: [] }
}
