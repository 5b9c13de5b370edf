/** The sample conversation of the first page, read when the site is built. It comes with the command line, too. */
import { readTranscripts } from "@memfold/cli/transcripts"
import type { Message } from "@memfold/core"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { root } from "./pages.js"

const file = "packages/programs/cli/samples/coding-agent.jsonl"

/** Its messages, which VitePress puts in the place of this module. */
export declare const data: ReadonlyArray<Message.Message>

export default {
  load: () => readTranscripts(readFileSync(join(root, file), "utf8"), { file })[0]?.messages ?? [],
}
