/**
 * `@memfold/archive`: sessions that nobody speaks in any more, in a folder or an S3 bucket, and back when somebody opens them;
 * and retention by rule.
 */
export { type Archive, ArchiveError } from "./Archive.js"
export * from "./copy.js"
export { folderArchive } from "./folder.js"
export { markedBy } from "./marks.js"
export { type Archived, archiveSession, bringBack, eraseArchived, restoreSession } from "./move.js"
export { openArchive } from "./open.js"
export {
  archiveSegments,
  retainSegments,
  type SegmentOptions,
  type SegmentsRetained,
} from "./retainSegments.js"
export { actionFor, retain, type Retained, type RetentionOptions, Rule, Rules } from "./retention.js"
export { s3Archive, type S3Options } from "./s3.js"
export type { Moved } from "./segments.js"
export * from "./sound.js"
export * from "./Source.js"
export { behind, withArchive } from "./withArchive.js"
