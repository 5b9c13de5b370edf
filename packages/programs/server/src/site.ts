/** A page that the service serves beside its operations, under `/studio/`. */
import { HttpServerRequest, HttpServerResponse, type HttpApp } from "@effect/platform"
import { Effect } from "effect"

/** A file of a page. */
export interface SiteFile {
  /** Its media type. */
  readonly type: string
  readonly body: Uint8Array
  /** Whether its name changes with its content, so that browsers may keep it for good. */
  readonly named: boolean
}

/** The files of a page by their paths, `index.html` among them. */
export type Site = ReadonlyMap<string, SiteFile>

/**
 * What the page may do: load its own files, ask this service, and nothing else. What messages have in them stays text, and if a
 * mistake made an element of it, the browser would not run it, load anything for it, or send anything away.
 */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ")

const headers = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
}

const prefix = "/studio/"

/** Puts a page before an application: `/` and `/studio` lead to it. */
export const withSite = <E, R>(app: HttpApp.Default<E, R>, site: Site | undefined): HttpApp.Default<E, R> =>
  site === undefined
    ? app
    : Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) => {
        const [path = ""] = url.split("?", 1)
        if (method !== "GET" && method !== "HEAD") return app
        if (path === "/" || path === "/studio")
          return Effect.succeed(HttpServerResponse.empty({ status: 302, headers: { location: prefix } }))
        if (!path.startsWith(prefix)) return app
        const file = site.get(path === prefix ? "index.html" : path.slice(prefix.length))
        if (file === undefined) return app
        return Effect.succeed(
          HttpServerResponse.uint8Array(file.body, {
            contentType: file.type,
            headers: {
              ...headers,
              "cache-control": file.named ? "public, max-age=31536000, immutable" : "no-cache",
            },
          }),
        )
      })
