import { expect, it } from "vitest"
import { checkOptions, serveOptions, ServeError, type ServeOptions } from "./options.js"

const refused = (options: unknown): unknown => {
  try {
    checkOptions(options as ServeOptions)
    return undefined
  } catch (error) {
    return error
  }
}

it.each(Object.keys(serveOptions).filter((name) => !["settings", "summarizer"].includes(name)))(
  "%s is refused where it is something else",
  (name) => {
    for (const value of [Symbol("x"), -0.5, null, [5]]) {
      const error = refused({ [name]: value })
      expect(error).toBeInstanceOf(ServeError)
      expect((error as Error).message).toContain(`The option "${name}`)
    }
  },
)

it("a name that is no option is refused, with what was meant", () => {
  expect(refused({ prot: 4_710 })).toMatchObject({
    message: expect.stringContaining('There is no option "prot"; did you mean "port"'),
  })
  expect(refused({ compaction: { mod: "inline" } })).toMatchObject({
    message: expect.stringContaining("compaction.mod"),
  })
  for (const options of [null, "memory:", 5]) expect(refused(options)).toBeInstanceOf(ServeError)
  expect(refused({})).toBeUndefined()
})

it("what is for a proxy is refused without an upstream", () => {
  for (const options of [{ summaryModel: "m" }, { upstreamTimeout: "5 seconds" }] as const) {
    expect(refused(options)).toMatchObject({ message: expect.stringContaining("--upstream URL") })
    expect(refused({ ...options, upstream: {} })).toBeInstanceOf(ServeError)
    expect(refused({ ...options, upstream: "https://api.openai.com" })).toBeUndefined()
  }
})
