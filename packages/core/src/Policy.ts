/** The decision whether a compaction is due. */
export { decide, nextCheck } from "./policy/decide.js"
export type { PolicyInput } from "./policy/PolicyInput.js"
export type { Circumstances, DecideOptions, Decision, Plan } from "./policy/decide.js"
