/** In a browser or an edge runtime: the stores in files and on servers cannot run there. */
import type { Open } from "./OpenStore.js"

/** None. */
export const servers: ReadonlyArray<readonly [scheme: string, open: Open]> = []
