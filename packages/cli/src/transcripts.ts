/** `@memfold/cli/transcripts`: the reader of transcripts that the command line uses, for programs. */
export {
  type Compaction,
  readTranscripts,
  type Transcript,
  TranscriptError,
} from "./transcript/Transcript.js"
