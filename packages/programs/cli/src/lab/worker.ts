/** A worker thread of `memfold lab`: makes the policies from the arguments and does the work that it is sent. */
import { reference, serve } from "@memfold/lab"
import { Effect } from "effect"
import { workerData } from "node:worker_threads"
import { type SetupArguments, setupOf } from "./setup.js"

const { policies, ...setup } = await Effect.runPromise(setupOf(workerData as SetupArguments))
serve({ ...setup, policies: [reference, ...policies] })
