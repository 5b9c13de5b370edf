/** What a format of transcripts says of its files: how an entry is read, and what becomes of the whole. */
import type { Message } from "@memfold/core"
import type { Either } from "effect"
import type { LeftOut } from "./leftOut.js"
import type { Problem, Row, Source } from "./source.js"

/**
 * A place where the program that recorded the conversation compacted it. The messages before it stay in the transcript.
 *
 * - `after`: how many messages of the transcript there were
 * - `to`: the summary covers the messages before this one, if the program kept the others as they were
 * - `summary`: the text that the program put in their place, if the file has it
 * - `trigger`: why the program compacted, in its own word, such as `auto` or `manual`
 * - `tokensBefore`: the size of the prompt before, as the program counted it
 * - `time`: when, in milliseconds since the epoch
 */
export interface Compaction {
  readonly after: number
  readonly to?: number
  readonly summary?: string
  readonly trigger?: string
  readonly tokensBefore?: number
  readonly time?: number
}

/**
 * What an entry says of a compaction.
 *
 * - `keeps`: the first entry that it kept as it was, by id or index in the file
 * - `isRest`: it is the summary of the compaction that an entry before it has announced
 */
export type Compacted = {
  readonly [Name in "summary" | "trigger" | "tokensBefore" | "time"]?: Compaction[Name] | undefined
} & { readonly keeps?: string | number | undefined; readonly isRest?: boolean }

/** Why an entry cannot be read. `problem` continues a sentence about it: "has no role". */
export interface Unreadable {
  /** What is wrong, if it is not what the format calls an entry. */
  readonly subject?: string
  readonly problem: string
  readonly allowed?: string
}

/** The messages of a file that could be read. */
export type Said = Either.Either<ReadonlyArray<Message.Message>, Unreadable>

/** How the entries `A` of a format are read. A format whose conversations are lists of messages has only `says`. */
export interface EntryFormat<A> {
  /** What an entry is called in errors: by default, `message`. */
  readonly noun?: string
  readonly id?: (entry: A) => string | undefined
  /** The id of the entry before it; `undefined` if that is the one before it in the file, `null` if there is none. */
  readonly parent?: (entry: A) => string | null | undefined
  /** Whether an entry may stand before its parent in the file. */
  readonly isTree?: boolean
  /** Whether the user can go back over a compaction: otherwise, an entry whose parent stands before one is damaged. */
  readonly goesBackOverCompactions?: boolean
  /** Who says it in a conversation beside the user's, such as a sub-agent. */
  readonly side?: (entry: A) => string | undefined
  /** What a known id means: the same entry again, a newer version of it, or (the default) another one. */
  readonly again?: (known: A, entry: A) => "same" | "newer" | "other"
  /** The first entry that this one takes back, of those on the way to it. */
  readonly takesBack?: (entry: A, way: () => ReadonlyArray<A>) => A | undefined
  /** Whether somebody says something in it: by default, in all of them. */
  readonly isSaid?: (entry: A) => boolean
  /** Whether it goes on with the message of the entry that was said before it. */
  readonly joins?: (before: A, entry: A) => boolean
  /** Whether it belongs to a way that goes on beside it, as results of parallel calls do. */
  readonly isBeside?: (entry: A) => boolean
  readonly compaction?: (entry: A, way: () => ReadonlyArray<A>) => Compacted | undefined
  /** Places of the file in which nobody speaks, such as a copy of a result for the program. */
  readonly notSaid?: ReadonlyArray<string>
  /** The messages of the entries of one message; `before` is what was said before them, the newest first. */
  readonly says: (entries: readonly [A, ...Array<A>], before: Iterable<A>) => Said
}

/**
 * A log.
 *
 * - `id`: of the conversation
 * - `current`: the id of the entry where the conversation stands: by default, the last one
 * - `damaged`: what was skipped of it
 * - `raw`: what the file has of it, read or not; by default, all of the file
 */
export interface Log<A> {
  readonly rows: ReadonlyArray<Row<A>>
  readonly id?: string | undefined
  readonly current?: string | undefined
  readonly broken?: Problem | undefined
  readonly damaged?: ReadonlyArray<Problem>
  readonly raw?: ReadonlyArray<Row>
}

/** The messages that were read, the problem that stopped the reading, if any, and what was skipped because it is damaged. */
export interface Reading {
  readonly messages: ReadonlyArray<Message.Message>
  readonly broken: Problem | undefined
  readonly compactions?: ReadonlyArray<Compaction>
  readonly damaged?: ReadonlyArray<Problem>
}

/**
 * A conversation of a file.
 *
 * - `id`: as its program calls it
 * - `branchOf`: of a branch that the user left, the number of its conversation in the file
 * - `leftOut`: what of the file is in none of its messages, and in those of no branch of it; nothing of a branch
 */
export interface StoredConversation {
  readonly id?: string | undefined
  readonly branchOf?: number
  readonly read: () => Reading
  readonly leftOut: () => ReadonlyArray<LeftOut>
}

/**
 * Reads one format. `find` has at least one conversation, whose reading says what is missing. The table in `docs/migrate/transcripts.md`
 * says the rest of it for each format.
 */
export interface Reader {
  readonly notSaid: ReadonlyArray<string>
  readonly hasBranches: boolean
  readonly hasCompactions: boolean
  readonly recognizes: (source: Source) => boolean
  readonly find: (source: Source) => ReadonlyArray<StoredConversation>
}
