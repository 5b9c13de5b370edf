/** What a summary consists of, as users of the package see it. */
export { Files, ProviderData, Segment, SegmentKind, shownSegments } from "./summary/Summary.js"
