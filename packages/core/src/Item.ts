/** Items and content blocks of providers, which messages keep as they are. */
export { interrupted, items } from "./message/items.js"
export type { Item, ItemAnswer, ItemApi, ItemCall, Payload } from "./message/items.js"
export { type DataSize, itemOf, outputText, sizeOf, textOf } from "./message/readItems.js"
