/** The OpenAPI document of a service, as far as tests read it. */

/** A schema of JSON. */
export interface Shape {
  readonly $ref?: string
  readonly type?: string | ReadonlyArray<string>
  readonly maximum?: number
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: ReadonlyArray<Shape>
  readonly allOf?: ReadonlyArray<Shape>
}

interface Operation {
  readonly parameters?: ReadonlyArray<{ readonly name: string; readonly in: string }>
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Shape }>> }
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Shape>> }
}

/** The schemas that have a name, by it. */
export type Named = Document["components"]["schemas"]

/** The schema of a name that another one refers to. */
export const namedBy = ($ref: string, known: Named): Shape => known[$ref.split("/").at(-1) ?? ""] ?? {}

/** All operations of a service: the address of each with ids in its path, the names of its query, and the schemas of its body. */
export const operationsOf = async (url: string) => {
  const { paths, components } = (await (await fetch(`${url}/openapi.json`)).json()) as Document
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      method: method.toUpperCase(),
      path,
      to: `${url}${path.replaceAll(/\{\w+\}/g, "one")}`,
      query: parameters.flatMap((one) => (one.in === "query" ? [one.name] : [])),
      bodies: Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
    })),
  )
  return { operations, known: components.schemas }
}
