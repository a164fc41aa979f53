import { expect, expectTypeOf, test } from 'vitest'
import { encodeResponse } from '../../../protocol/index.ts'
import type { RequestOf, ResponseOf } from '../../../protocol/index.ts'
import type { FetchRequest, FetchResponse } from '../../../protocol/messages/01_fetch.ts'
import type { MetadataRequest } from '../../../protocol/messages/03_metadata.ts'

/** Types are checked by tsc; what runs here is what must hold for the compiler's answer to mean anything. */
test('types follow from the definitions', () => {
  expectTypeOf<RequestOf<1>>().toEqualTypeOf<FetchRequest>()
  expectTypeOf<ResponseOf<1>>().toEqualTypeOf<FetchResponse>()
  expectTypeOf<FetchRequest['topics'][number]['partitions'][number]['fetchOffset']>().toEqualTypeOf<number>()
  expectTypeOf<FetchRequest['clusterId']>().toEqualTypeOf<string | null>()
  expectTypeOf<FetchRequest['forgottenTopicsData'][number]['partitions']>().toEqualTypeOf<number[]>()
  expectTypeOf<FetchRequest['replicaState']['replicaEpoch']>().toEqualTypeOf<number>()
  expectTypeOf<MetadataRequest['topics']>().extract<null>().toEqualTypeOf<null>()
  expectTypeOf<RequestOf<0>['topicData'][number]['partitionData'][number]['records']>().toEqualTypeOf<Uint8Array | null>()
  expectTypeOf<FetchResponse['responses'][number]['partitions'][number]['records']>().toEqualTypeOf<
    Uint8Array | readonly Uint8Array[] | null
  >()
  expectTypeOf<ResponseOf<12>['throttleTimeMs']>().toEqualTypeOf<number | undefined>()
  expectTypeOf<ResponseOf<12>['errorCode']>().toEqualTypeOf<number>()
  // @ts-expect-error a field that every version has, without a default, must be given
  const incomplete: ResponseOf<12> = { throttleTimeMs: 1 }
  // @ts-expect-error a field that the definition does not have
  const surplus: ResponseOf<12> = { errorCode: 0, throttleTime: 1 }
  expect([incomplete, surplus].map((value) => encodeResponse(12, 1, value).sizeBytes)).toEqual([6, 6])
})
