/** An MCP server for the conversation memory of memfold. */
export { type HttpOptions, type HttpServing, serveHttp } from "./http.js"
export { memoryServer, type MemoryServerOptions } from "./server.js"
export type { ServedMemory } from "./tool.js"
