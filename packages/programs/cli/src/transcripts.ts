/** `@memfold/cli/transcripts`: the reader of transcripts that the command line uses, for programs. */
export {
  type Compaction,
  type Format,
  type LeftOut,
  type ParseOptions,
  readTranscripts,
  type Transcript,
  TranscriptError,
} from "./transcript/Transcript.js"
