/** The stored form of events, as users of the package see it. */
export { checksumOf } from "./event/checksum.js"
export {
  batchIdOf,
  DamagedEvent,
  decode,
  encode,
  encodeBatch,
  encodeRewritten,
  recordedAfter,
  timedNow,
} from "./event/EventCodec.js"
export type {
  AnyEvent,
  DamagedMessage,
  DamagedSummary,
  RecordedEvent,
  TimedEvent,
  UnknownEvent,
} from "./event/EventCodec.js"
