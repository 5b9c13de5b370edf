/** Bundles the command line, which starts again with every call, and its reader of transcripts. */
import { bundled } from "../../../scripts/bundled.mjs"

export default bundled(
  {
    main: "src/main.ts",
    // What it starts, for tests that call it many times in one process.
    program: "src/program.ts",
    // The threads of `memfold lab` load a module of their own.
    labWorker: "src/lab/worker.ts",
    transcripts: "src/transcripts.ts",
  },
  { folder: import.meta.dirname, isMapped: false },
)
