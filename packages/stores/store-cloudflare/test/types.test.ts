/** What a Worker has is what the log takes: Cloudflare's own types are assignable. */
import type { D1Database, DurableObjectStorage } from "@cloudflare/workers-types"
import { expectTypeOf, it } from "vitest"
import type { D1, ObjectStorage } from "../src/index.js"

it("the types of bindings", () => {
  expectTypeOf<D1Database>().toExtend<D1>()
  expectTypeOf<DurableObjectStorage>().toExtend<ObjectStorage>()
})
