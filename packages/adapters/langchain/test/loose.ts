import type { AnyAgentMiddleware } from "langchain"

/** A middleware of LangChain: their types do not fit `createAgent` where optional properties are exact. */
export const loose = (middleware: unknown): AnyAgentMiddleware => middleware as AnyAgentMiddleware
