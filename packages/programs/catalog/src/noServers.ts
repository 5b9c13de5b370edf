/** In a browser or an edge runtime: the stores in files and on servers, and the queues, cannot run there. */
import type { Open, Seal } from "./OpenStore.js"
import type { LoadQueue } from "./queues.js"

/** None. */
export const servers: ReadonlyArray<readonly [scheme: string, open: Open]> = []

/** None. */
export const queues: ReadonlyArray<readonly [scheme: string, queue: LoadQueue]> = []

/** There are no stores whose keys could be in a folder. */
export const seal: Seal | null = null
