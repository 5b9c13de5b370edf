import type { AnyAgentMiddleware } from "langchain"

/** A middleware of LangChain: the types of some do not fit `createAgent` where optional properties are exact. */
export const loose = (make: unknown, options: unknown): AnyAgentMiddleware =>
  (make as (options: unknown) => AnyAgentMiddleware)(options)
