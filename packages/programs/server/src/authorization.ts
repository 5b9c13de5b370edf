/** Who a request comes from, and whether its token allows what it asks for. */
import { Caller, Erasing, problem, type Problem, Reading, type Right, Writing } from "@memfold/client/api"
import { Effect, Either, Layer, Option } from "effect"
import type { makeRate } from "./limits.js"
import type { Route } from "./routes.js"
import { finder, rights, type StoredToken } from "./tokens.js"

const unknown = problem(401, "UnknownToken", "The service knows no such token; ask who runs it for one")
const notAllowed = (detail: string): Problem => problem(403, "NotAllowed", detail)

const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(" and ")

/** A token as an actor: by its name, or by the beginning of its hash, from which nobody finds it. */
const actorOf = ({ name, sha256 }: StoredToken) => ({
  id: name ?? `token ${sha256.slice(0, 12)}`,
  via: "service",
})

/** How a service knows its callers. */
export interface Authorization {
  /** The tokens that are known; without them, the service asks for none. */
  readonly tokens?: ReadonlyArray<StoredToken> | undefined
  /** Without tokens: whether everybody may only read. */
  readonly readOnly?: boolean | undefined
  /** Limits the requests of each token. */
  readonly rate: ReturnType<typeof makeRate>
}

/**
 * Makes the check of a request: it has a token of the service, the token allows what the route asks for, and has not asked too often.
 *
 * @returns who asks, and the key of the rate that its work counts for
 */
export const authorization = ({ tokens, readOnly = false, rate }: Authorization) => {
  const find = tokens === undefined ? null : finder(tokens)
  const everybody: ReadonlyArray<Right> = readOnly ? ["read"] : rights
  return (
    { rights: asked }: Pick<Route, "rights">,
    given: string | undefined,
    how: string,
    now: number,
  ): Either.Either<{ readonly caller: Caller["Type"]; readonly key: string | null }, Problem> => {
    const isAllowed = (allowed: ReadonlyArray<Right>): boolean =>
      asked.every((right) => allowed.includes(right))
    if (asked.length === 0)
      return Either.right({ caller: { tenant: null, rights: [], actor: null }, key: null })
    if (find === null)
      return isAllowed(everybody)
        ? Either.map(rate("", now), () => ({
            caller: { tenant: null, rights: everybody, actor: null },
            key: "",
          }))
        : Either.left(
            notAllowed(`This service is for reading; start it without --read-only to ${asked.at(-1)}`),
          )
    if (given === undefined || given === "")
      return Either.left(problem(401, "NoToken", `Send a token of this service ${how}`))
    const token = find(given)
    if (token === null) return Either.left(unknown)
    const { tenant, rights: allowed } = token
    return isAllowed(allowed)
      ? Either.map(rate(token.sha256, now), () => ({
          caller: { tenant, rights: allowed, actor: actorOf(token) },
          key: token.sha256,
        }))
      : Either.left(
          notAllowed(
            `This needs a token with the right ${quoted(asked)}; this one has: ${allowed.join(", ")}`,
          ),
        )
  }
}

/** Who has passed the guard, which has asked for the rights of the route. */
export const passedCaller: Effect.Effect<Caller["Type"]> = Effect.flatMap(
  Effect.serviceOption(Caller),
  Option.match({
    onNone: () => Effect.dieMessage("a route was reached without the guard"),
    onSome: (caller) => Effect.succeed(caller),
  }),
)

const passed = { bearer: () => passedCaller }

/** Callers for the handlers of the declaration. */
export const callers = Layer.mergeAll(
  Layer.succeed(Reading, passed),
  Layer.succeed(Writing, passed),
  Layer.succeed(Erasing, passed),
)
