/**
 * `@memfold/catalog`: the shipped stores, strategies, summarizers and message formats, by their names.
 *
 * @packageDocumentation
 */
export {
  type AnyMessage,
  type Codec,
  codecs,
  type ContextMessages,
  type Encoded,
  encodeIn,
  encodingIn,
  formatContext,
  type InFormat,
  formattingInSteps,
  type FormatOptions,
  type Formats,
  type SystemMessages,
  wrongCacheControl,
  isServer,
  serverWords,
  wrongExtraFields,
  wrongServer,
} from "./formats.js"
export type { UnsupportedSection } from "@memfold/codec"
export { loading, MissingPackage, optional } from "./MissingPackage.js"
export { byName, type Known, type Suggested, UnknownName } from "./names.js"
export type { OpenStore, StoreError, StoreOptions } from "./OpenStore.js"
export {
  type OpenQueue,
  type QueueError,
  queueForms,
  queueOf,
  type QueueOptions,
  type QueueUrl,
} from "./queues.js"
export { projectionsOf } from "./projectionsOf.js"
export {
  sqliteFile,
  storeForms,
  storeLayer,
  storeOf,
  storeSchemes,
  type StoreForm,
  type StoreUrl,
  withoutSecrets,
} from "./stores.js"
export {
  type AnyStrategy,
  defaultStrategy,
  type ShippedStrategy,
  strategies,
  strategyNamed,
  type StrategyName,
  ignoredSettings,
  type UnknownSetting,
  unknownSettings,
} from "./strategies.js"
export {
  summarizerInContext,
  type SummarizerInContextOptions,
  type AskModel,
  type GivenSummarizer,
  type ModelSummarizer,
  type SummarizerName,
  summarizerOf,
  summarizers,
  nameOfThrown,
  wrongSummarizer,
} from "./summarizers.js"
