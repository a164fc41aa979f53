import { KafkaSubject } from '../../../bench/lib/subjects.ts'
import { kafkaJars } from '../../../bench/lib/process.ts'
import { Broker } from '../../lib/broker.ts'

export interface Peers {
  readonly kafkaPort: number
  readonly frazil: Broker
  destroy(): Promise<void>
}

/** Both brokers, empty, with settings that mean the same. Kafka comes from Maven Central, by the same script as for the benches. */
export async function startPeers(): Promise<Peers> {
  const kafka = new KafkaSubject('0,1', kafkaJars(), {
    'num.partitions': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
  })
  const frazil = new Broker({ 'group-initial-rebalance-delay-ms': '0' })
  await Promise.all([kafka.start(), frazil.start()])
  return {
    kafkaPort: kafka.port,
    frazil,
    destroy: async () => {
      await Promise.all([kafka.destroy(), frazil.destroy()])
    },
  }
}
