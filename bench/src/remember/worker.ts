/** A thread of the benchmark: makes the policies and replays what it is sent. */
import { reference, serve } from "@memfold/lab"
import { additions, plain } from "./policies.js"

serve({ policies: [reference, ...plain, ...additions.map(({ policy }) => policy)] })
