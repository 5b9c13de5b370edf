/** How a route is declared: the rights that it needs, its place, what goes in and comes out, and what it is for. */
import {
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity,
  type HttpMethod,
  OpenApi,
} from "@effect/platform"
import { Context, type Schema } from "effect"
import { Problems } from "./problem.js"

/** What a token allows: to read, to write, or to erase what cannot be brought back. */
export type Right = "read" | "write" | "erase"

/**
 * Who a request comes from. Without tokens, there is no tenant, and every session of the store is theirs; and no actor, which is the
 * name of the token.
 */
export class Caller extends Context.Tag("@memfold/client/Caller")<
  Caller,
  {
    readonly tenant: string | null
    readonly rights: ReadonlyArray<Right>
    readonly actor: { readonly id: string; readonly via: string } | null
  }
>() {}

const options = {
  provides: Caller,
  failure: Problems,
  security: { bearer: HttpApiSecurity.bearer },
} as const

/** The caller may read. */
export class Reading extends HttpApiMiddleware.Tag<Reading>()("@memfold/client/Reading", options) {}
/** The caller may write. */
export class Writing extends HttpApiMiddleware.Tag<Writing>()("@memfold/client/Writing", options) {}
/** The caller may erase. */
export class Erasing extends HttpApiMiddleware.Tag<Erasing>()("@memfold/client/Erasing", options) {}

/**
 * That a route may begin a session, which its service can have too many of: the one in its path, or the one that its body names as
 * `to`; or the group of the feed in its path.
 */
export class Begins extends Context.Tag("@memfold/client/Begins")<Begins, "session" | "to" | "group">() {}

/** A route: what goes in and comes out, whether it {@link Begins} a session, and what it is for. */
interface Route {
  readonly query?: Schema.Schema.AnyNoContext
  readonly headers?: Schema.Schema.AnyNoContext
  readonly body?: Schema.Schema.AnyNoContext
  readonly answer: Schema.Schema.AnyNoContext
  readonly status?: number
  readonly begins?: typeof Begins.Service
  readonly about: string
}

type In<Given, Field extends keyof Route> =
  Given extends Readonly<Record<Field, infer Part extends Schema.Schema.AnyNoContext>> ? Part["Type"] : never

/** Where a route is, and the ids that its path has. */
interface Place<Ids> {
  readonly path: HttpApiEndpoint.PathSegment
  readonly schema?: { readonly Type: Ids } & Schema.Schema.AnyNoContext
}

/** Places whose paths begin so, and have these ids. */
export const under =
  <Ids>(start: HttpApiEndpoint.PathSegment, schema?: Place<Ids>["schema"]) =>
  (path = ""): Place<Ids> => ({ path: `${start}${path}`, ...(schema && { schema }) })

/** A field that a request does not have is a typing mistake: left out in silence, a `revert` would take back more than was meant. */
const exact = (schema: Schema.Schema.AnyNoContext): Schema.Schema.AnyNoContext =>
  schema.annotations({ parseOptions: { onExcessProperty: "error" } })

/** Declares routes for which a caller needs rights. */
const needs =
  <const Asked extends typeof Reading | typeof Writing | typeof Erasing>(...rights: ReadonlyArray<Asked>) =>
  <const Method extends HttpMethod.HttpMethod, const Name extends string, Ids, Given extends Route>(
    method: Method,
    name: Name,
    { path, schema }: Place<Ids>,
    { query, headers, body, answer, status, begins, about }: Given,
  ) => {
    let made = (
      HttpApiEndpoint.make(method)(name, path) as unknown as HttpApiEndpoint.HttpApiEndpoint.AnyWithProps
    )
      .addSuccess(answer, { status })
      .annotateContext(OpenApi.annotations({ description: about }))
    for (const right of rights) made = made.middleware(right as typeof Reading)
    if (schema !== undefined) made = made.setPath(schema)
    if (query !== undefined) made = made.setUrlParams(exact(query))
    if (headers !== undefined) made = made.setHeaders(headers)
    if (body !== undefined) made = made.setPayload(exact(body))
    if (begins !== undefined) made = made.annotate(Begins, begins)
    return made as HttpApiEndpoint.HttpApiEndpoint<
      Name,
      Method,
      Ids,
      In<Given, "query">,
      In<Given, "body">,
      In<Given, "headers">,
      In<Given, "answer">,
      typeof Problems.Type,
      Context.Tag.Identifier<Asked>
    >
  }

export const reads = needs(Reading)
export const writes = needs(Writing)
export const erases = needs(Erasing)
export const readsAndWrites = needs<typeof Reading | typeof Writing>(Reading, Writing)

/** A group of routes, with their types. */
export const group = <const Name extends string, Routes extends HttpApiEndpoint.HttpApiEndpoint.Any>(
  name: Name,
  routes: ReadonlyArray<Routes>,
) =>
  routes.reduce(
    (made, route) => made.add(route),
    HttpApiGroup.make(name) as unknown as HttpApiGroup.HttpApiGroup<Name, Routes>,
  )
