/** Who a request comes from, and whether its token allows what it asks for. */
import {
  type Caller,
  Erasing,
  type Problem,
  problem,
  Reading,
  type Right,
  Writing,
} from "@memfold/client/api"
import { Effect, Layer, Redacted } from "effect"
import type { makeRate } from "./limits.js"
import { finder, rights, type StoredToken } from "./tokens.js"

const missing = problem(401, "NoToken", "Send a token of this service: Authorization: Bearer TOKEN")
const unknown = problem(401, "UnknownToken", "The service knows no such token; ask who runs it for one")
const readOnly = (right: Right): Problem =>
  problem(403, "NotAllowed", `This service is for reading; start it without --read-only to ${right}`)

/**
 * The three rights, as the declaration asks for them.
 *
 * @param tokens - the tokens that are known; `null` if the service asks for none
 * @param rate - limits the requests of each token
 * @param withoutToken - what every caller may do, if the service asks for no tokens
 */
export const authorization = (
  tokens: ReadonlyArray<StoredToken> | null,
  rate: ReturnType<typeof makeRate>,
  withoutToken: ReadonlyArray<Right> = rights,
) => {
  const find = tokens === null ? null : finder(tokens)
  const allow = (right: Right) => ({
    bearer: (given: Redacted.Redacted): Effect.Effect<Caller["Type"], Problem> =>
      Effect.gen(function* () {
        if (find === null) {
          yield* rate("")
          if (!withoutToken.includes(right)) return yield* Effect.fail(readOnly(right))
          return { tenant: null, rights: withoutToken }
        }
        const text = Redacted.value(given)
        if (text === "") return yield* Effect.fail(missing)
        const token = find(text)
        if (token === null) return yield* Effect.fail(unknown)
        yield* rate(token.sha256)
        if (!token.rights.includes(right))
          return yield* Effect.fail(
            problem(
              403,
              "NotAllowed",
              `This needs a token with the right "${right}"; this one has: ${token.rights.join(", ")}`,
            ),
          )
        return { tenant: token.tenant, rights: token.rights }
      }),
  })
  return Layer.mergeAll(
    Layer.succeed(Reading, allow("read")),
    Layer.succeed(Writing, allow("write")),
    Layer.succeed(Erasing, allow("erase")),
  )
}
