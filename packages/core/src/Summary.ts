/** What a summary consists of, as users of the package see it. */
export { ProviderData, Segment } from "./summary/Summary.js"
