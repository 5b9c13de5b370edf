/** Recall: searching the messages of a session. */
export { inProcess } from "./inProcess.js"
export type { Recalled, RecalledMessage } from "./recallMessages.js"
export { messageTerms } from "./searchText.js"
export { recalledHeading } from "./heading.js"
export { toolDefinitions } from "./tools.js"
export type { ToolDefinition } from "./tools.js"
export { queryTermsOf, termsOf, termsVersion } from "./terms.js"
