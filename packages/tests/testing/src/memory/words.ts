/** What the laws of recall generate: messages of a few words, and queries that look for them. */
import type { Message } from "@memfold/core"
import * as fc from "fast-check"

/** Some of the words in their order, one or more, as one text. */
export const textOf = (words: ReadonlyArray<string>, most = words.length): fc.Arbitrary<string> =>
  fc.subarray([...words], { minLength: 1, maxLength: most }).map((list) => list.join(" "))

/** A message of the user or of the assistant that says some of the words. */
export const messageOf = (words: ReadonlyArray<string>, most?: number): fc.Arbitrary<Message.Message> =>
  fc
    .tuple(fc.constantFrom("user" as const, "assistant" as const), textOf(words, most))
    .map(([role, text]) => ({ role, parts: [{ type: "text", text }] }))
