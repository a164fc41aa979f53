import { constants, gunzipSync, gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { Errors } from '../errors.ts'
import { RecordsError } from './errors.ts'
import { CODEC_GZIP, CODEC_LZ4, CODEC_NONE, CODEC_SNAPPY, CODEC_ZSTD } from './header.ts'
import { compressLz4, decompressLz4 } from './lz4.ts'
import { compressSnappy, decompressSnappy } from './snappy.ts'

const CHUNK_MIN_BYTES = 16 * 1024
const CHUNK_MAX_BYTES = 1024 * 1024

/**
 * The records of a batch, decompressed into at most `maxBytes`; CODEC_NONE gives the payload itself. Check the CRC
 * first: damaged frames may decode without complaint. Blocks its thread: more than some KiB belong into a worker (L11).
 *
 * Errors, all RecordsError: MESSAGE_TOO_LARGE over the limit, known before memory is taken; UNKNOWN_SERVER_ERROR for
 * bytes that do not decode or a codec that does not exist, which is what Kafka answers for both.
 */
export function decompressPayload(codec: number, payload: Uint8Array, maxBytes: number): Uint8Array {
  switch (codec) {
    case CODEC_NONE:
      return payload
    case CODEC_GZIP:
      return inflate(gunzipSync, payload, maxBytes)
    case CODEC_SNAPPY:
      return decompressSnappy(payload, maxBytes)
    case CODEC_LZ4:
      return decompressLz4(payload, maxBytes)
    case CODEC_ZSTD:
      // To Kafka no zstd frame at all is an empty stream, not a broken one.
      return payload.length === 0 ? payload : inflate(zstdDecompressSync, payload, maxBytes)
    default:
      throw new RecordsError(Errors.UNKNOWN_SERVER_ERROR, `Unknown compression type id: ${codec}`)
  }
}

/** Compresses records as Kafka's own producers frame them. `level` is of gzip (1–9) or zstd (1–22). */
export function compressPayload(codec: number, payload: Uint8Array, level?: number): Uint8Array {
  switch (codec) {
    case CODEC_NONE:
      return payload
    case CODEC_GZIP:
      return gzipSync(payload, level === undefined ? {} : { level })
    case CODEC_SNAPPY:
      return compressSnappy(payload)
    case CODEC_LZ4:
      return compressLz4(payload)
    case CODEC_ZSTD:
      return zstdCompressSync(payload, level === undefined ? {} : { params: { [constants.ZSTD_c_compressionLevel]: level } })
    default:
      throw new RecordsError(Errors.UNKNOWN_SERVER_ERROR, `Unknown compression type id: ${codec}`)
  }
}

/** node:zlib counts its output against `maxOutputLength` chunk by chunk; chunks near the final size save copies. */
function inflate(
  decode: (payload: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Buffer,
  payload: Uint8Array,
  maxBytes: number,
): Uint8Array {
  const chunkSize = Math.min(CHUNK_MAX_BYTES, Math.max(CHUNK_MIN_BYTES, payload.length * 4))
  try {
    return decode(payload, { maxOutputLength: Math.max(1, maxBytes), chunkSize })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') {
      throw new RecordsError(Errors.MESSAGE_TOO_LARGE, `The records inflate to more than ${maxBytes} bytes`, error)
    }
    throw new RecordsError(Errors.UNKNOWN_SERVER_ERROR, 'Failed to decompress record stream', error)
  }
}
