import { strategyLaws } from "@memfold/testing/vitest"
import { threeTurns } from "./threeTurns.js"

strategyLaws(threeTurns, { turns: 3 })
