import type { Embedder } from "@memfold/core"
import { Effect } from "effect"

/** What the fake embedder can be told. */
export interface EmbedderOptions {
  readonly name?: string
  /** Words that mean the same, in lower case. */
  readonly synonyms?: ReadonlyArray<ReadonlyArray<string>>
  readonly dimensions?: number
  readonly minSimilarity?: number
}

/** The FNV-1a hash of a text. */
const hashOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return hash >>> 0
}

/**
 * An embedder without a model: the hash of a word gives its direction, and synonyms share a direction. So texts with words of
 * the same meaning are near each other. Equal texts always have equal vectors.
 */
export const embedder = ({
  name = "hashed words",
  synonyms = [],
  dimensions = 64,
  minSimilarity = 0.5,
}: EmbedderOptions = {}): Embedder.Service => {
  const meanings = new Map(synonyms.flatMap((words) => words.map((word) => [word, words[0]!] as const)))
  return {
    name,
    dimensions,
    minSimilarity,
    maxTexts: 4,
    embed: (texts) =>
      Effect.sync(() =>
        texts.map((text) => {
          // A text without words has a direction, too.
          const vector = new Float32Array(dimensions)
          vector[0] = 0.01
          for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
            const hash = hashOf(meanings.get(word) ?? word)
            vector[hash % dimensions]! += hash & 0x10000 ? 1 : -1
          }
          return vector
        }),
      ),
  }
}
