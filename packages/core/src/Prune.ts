/** Rules that shorten the outputs of tools. */
export { hardClear, softTrim } from "./policy/Prune.js"
export type { PlannedPrune, Prune } from "./policy/Prune.js"
