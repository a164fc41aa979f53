/** The kafka-clients jar of the Kafka version whose definitions ours follow, and the text of its entries. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'

export const KAFKA_VERSION = '4.4.0'

const COPY_GOAL = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'

/** The path of the jar: $KAFKA_CLIENTS_JAR, else in the cache folder ($FRAZIL_CACHE, ~/.cache/frazil), fetched by Maven when absent. */
export function kafkaClientsJar(): string {
  const given = process.env['KAFKA_CLIENTS_JAR']
  if (given) return given
  const folder = process.env['FRAZIL_CACHE'] ?? join(homedir(), '.cache', 'frazil')
  const path = join(folder, `kafka-clients-${KAFKA_VERSION}.jar`)
  if (existsSync(path)) return path
  mkdirSync(folder, { recursive: true })
  const artifact = `-Dartifact=org.apache.kafka:kafka-clients:${KAFKA_VERSION}`
  execFileSync('mvn', ['-q', '-B', COPY_GOAL, artifact, `-DoutputDirectory=${folder}`], { stdio: 'inherit' })
  return path
}

const END_SIGNATURE = 0x06054b50
const STORED = 0

/** The entries of a zip file whose names match, as text, by the last part of their names (APPNOTE.TXT 4.3: no zip64, no encryption). */
export function zipTexts(path: string, name: RegExp): Map<string, string> {
  const zip = readFileSync(path)
  let end = zip.length - 22
  while (end >= 0 && zip.readUInt32LE(end) !== END_SIGNATURE) end--
  if (end < 0) throw new Error(`${path} is no zip file`)
  const texts = new Map<string, string>()
  let at = zip.readUInt32LE(end + 16)
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameBytes = zip.readUInt16LE(at + 28)
    const entry = zip.toString('utf8', at + 46, at + 46 + nameBytes)
    if (name.test(entry)) {
      const local = zip.readUInt32LE(at + 42)
      const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28)
      const data = zip.subarray(start, start + zip.readUInt32LE(at + 20))
      const text = zip.readUInt16LE(at + 10) === STORED ? data : inflateRawSync(data)
      texts.set(entry.slice(entry.lastIndexOf('/') + 1), text.toString('utf8'))
    }
    at += 46 + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
  }
  return texts
}
