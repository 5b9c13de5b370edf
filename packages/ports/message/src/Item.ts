/** Items and content blocks of providers, which messages keep as they are. */
export * from "./items.js"
export * from "./readItems.js"
