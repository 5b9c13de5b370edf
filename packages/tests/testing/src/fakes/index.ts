/** `@memfold/testing/fakes`: summarizers and logs that fail in the ways real ones do, and an embedder and a token counter that compute. */
export { quarter } from "./counter.js"
export { embedder, type EmbedderOptions } from "./embedder.js"
export { faultyLog, faultyLogLayer } from "./faultyLog.js"
export type { Fault, FaultScript, LogOperation } from "./faultyLog.js"
export {
  dying,
  echo,
  failing,
  gated,
  inflating,
  recording,
  slow,
  summarizers,
  truncating,
} from "./summarizers.js"
