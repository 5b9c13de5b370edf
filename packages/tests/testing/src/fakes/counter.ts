import type { TokenCounter } from "@memfold/core"

/** Counts four characters as a token, so sizes in tests do not depend on the estimate. */
export const quarter: TokenCounter.Service = { name: "quarter", count: (text) => Math.ceil(text.length / 4) }
