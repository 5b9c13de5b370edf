/** The metrics of the package. Effect's exporters find them by their names, which docs/operations.md lists. */
export { listen } from "./observe/metrics.js"
export type { Update } from "./observe/metrics.js"
