/** Parts that do what parts do on a bad day. */
export { quarter } from "./counter.js"
export { faultyLog, faultyLogLayer } from "./faultyLog.js"
export type { Fault, FaultScript } from "./faultyLog.js"
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
