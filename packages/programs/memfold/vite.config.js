/**
 * Bundles the package. A process that starts should not load hundreds of modules: importing the bundle takes a third of the
 * time of `import "effect"`. Stores are chunks of their own, loaded when their URL is used.
 */
import { bundled } from "../../../scripts/bundled.mjs"

export default bundled(
  { index: "src/index.ts", servers: "../catalog/src/servers.ts", noServers: "../catalog/src/noServers.ts" },
  { folder: import.meta.dirname, chosen: ["#servers"] },
)
