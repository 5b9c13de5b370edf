/** Bytes on the disk, against the reference with the same messages. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { claim, told } from "../measure.js"
import { turnsBefore } from "./conversation.js"
import { fill, fillBare } from "./fill.js"

const kibOf = (filename: string): number => Math.round(statSync(filename).size / 1_024)

/** The files that later measurements read. */
export interface Files {
  readonly bare: string
  readonly compacted: string
}

/** Fills the files, measures and prints. Returns them, and whether the ratio is within its bound. */
export const disk = async (folder: string): Promise<Files & { readonly held: boolean }> => {
  const file = (name: string) => join(folder, `${name}.db`)
  const [bare, plain, compacted] = [file("disk-bare"), file("disk-plain"), file("disk-compacted")]
  fillBare(bare, { turns: turnsBefore })
  await fill(plain, { turns: turnsBefore, compacted: false })
  await fill(compacted, { turns: turnsBefore, compacted: true })
  const [bareMany, many] = [file("disk-many-bare"), file("disk-many")]
  fillBare(bareMany, { turns: turnsBefore / 50, sessions: 50 })
  await fill(many, { turns: turnsBefore / 50, sessions: 50, compacted: false })

  console.log("\nThe size of the file with 5,000 messages")
  told("bare better-sqlite3", `${kibOf(bare)} KiB`)
  told("memfold, with all summaries of the sliding window", `${kibOf(compacted)} KiB`)
  told("  against the bare file", `${(kibOf(compacted) / kibOf(bare)).toFixed(2)}×`)
  told("memfold, no compaction", `${kibOf(plain)} KiB`)
  const held = claim("  against the bare file", kibOf(plain) / kibOf(bare), 1.3)
  told("memfold, in 50 sessions that grew in turns", `${kibOf(many)} KiB`)
  return {
    bare,
    compacted,
    held: [
      held,
      claim("  against the bare file with the same sessions", kibOf(many) / kibOf(bareMany), 1.3),
    ].every(Boolean),
  }
}
