/** The laws of a strategy, over generated conversations: `npm test`. A broken law shows the smallest one that breaks it. */
import { strategyLaws } from "@memfold/testing/vitest"
import { policy } from "./policy.js"

strategyLaws(policy, { turns: 2 })
