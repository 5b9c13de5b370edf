import type { TokenCounter } from "@memfold/core"

/** Four characters are a token: sizes in tests do not change when the estimate does. */
export const quarter: TokenCounter.Service = { name: "quarter", count: (text) => Math.ceil(text.length / 4) }
