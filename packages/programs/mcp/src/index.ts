/** An MCP server for the conversation memory of memfold. */
export { type HttpOptions, type HttpServing, type McpHandler, mcpHandler, serveHttp } from "./http.js"
export { memoryServer, type MemoryServerOptions } from "./server.js"
export type { ServedMemory, ToolMemory } from "./tool.js"
