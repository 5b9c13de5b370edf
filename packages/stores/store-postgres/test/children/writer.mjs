import { write } from "@memfold/harness/writer"
import { make } from "../../src/index.js"

await write(make)
