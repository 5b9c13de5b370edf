/**
 * `@memfold/server`: the memory as a service, for programs of any language.
 *
 * @packageDocumentation
 */
export type { ToolHandler, ToolMemory } from "./mcp.js"
export { ServeError, type ServeOptions } from "./options.js"
export { serve, type Service } from "./serve.js"
export type { Site, SiteFile } from "./site.js"
export { replaceFile } from "./replaceFile.js"
export { makeToken, rights, type StoredToken, TokenFileError, tokensIn } from "./tokens.js"
