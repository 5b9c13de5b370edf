/** The memory layers with a played extractor, for the laws of facts. */
import { make } from "../src/index.js"
import { Effect } from "effect"
import type { PlayedLayers } from "@memfold/testing"

export const playedLayers: PlayedLayers = (play) =>
  make({
    extractor: {
      name: "played",
      isFree: true,
      extract: (turns) => Effect.sync(() => ({ facts: play(turns) })),
    },
  })
