/** What models cost, and what a conversation costs at a provider that caches prompts. */
export * as Cost from "./Cost.js"
export * as Prices from "./Prices.js"
