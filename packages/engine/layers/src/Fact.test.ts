import { type } from "arktype"
import { Effect, Either, Schema } from "effect"
import { expect, it } from "vitest"
import { z } from "zod"
import { Fact } from "./index.js"

const checked = (declaration: Fact.Declaration, value: unknown) =>
  Effect.runPromise(Effect.either(declaration.check(value)))

const home = { city: "Graz", since: 2019 }

const declared = {
  Zod: Fact.of({ schema: z.object({ city: z.string(), since: z.number().optional() }), single: true }),
  ArkType: Fact.of({ schema: type({ city: "string", "since?": "number" }) }),
  Effect: Fact.of({ schema: Schema.Struct({ city: Schema.String, since: Schema.optional(Schema.Number) }) }),
}

it.each(Object.entries(declared))("a fact is declared by a schema of %s", async (_, declaration) => {
  expect(await checked(declaration, home)).toEqual(Either.right(home))
  for (const wrong of [{ city: 8010 }, { since: 2019 }, "Graz", null])
    expect(await checked(declaration, wrong)).toEqual(Either.left("its value does not fit its schema"))
  expect(declaration.jsonSchema).toMatchObject({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  })
})

it("a model is told no JSON Schema of what none can say, or the one that is given", () => {
  const schema = z.string().transform((text) => new URL(text))
  expect(Fact.of({ schema: z.custom<string>() }).jsonSchema).toEqual({})
  expect(Fact.of({ schema, jsonSchema: { type: "string" } }).jsonSchema).toEqual({ type: "string" })
})
