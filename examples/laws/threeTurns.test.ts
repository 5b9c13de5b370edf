import { strategyLaws } from "@memfold/testing/vitest"
import { threeTurns } from "./threeTurns.js"

strategyLaws(threeTurns, { rounds: 3 })
