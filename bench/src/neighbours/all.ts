/** The neighbours, each beside memfold in the same agent. A process that needs one library loads no other. */
import type { Neighbour } from "./Neighbour.js"

const libraries = {
  langGraph: async () => (await import("./langGraph.js")).langGraph,
  mastra: async () => (await import("./mastra.js")).mastra,
  aiSdk: async () => (await import("./aiSdk.js")).aiSdk,
  agentsSdk: async () => (await import("./agentsSdk.js")).agentsSdk,
}

export const libraryNames = Object.keys(libraries)

/** The memories that an agent of a library is given. */
export const neighboursOf = async (library: string): Promise<ReadonlyArray<Neighbour>> => {
  const load = (libraries as Record<string, () => Promise<ReadonlyArray<Neighbour>>>)[library]
  if (load === undefined) throw new Error(`there is no library ${library}`)
  return load()
}
