/** Rules that shorten the outputs of tools. */
export { hardClear, softTrim } from "./policy/Prune.js"
export type { Prune } from "./policy/Prune.js"
