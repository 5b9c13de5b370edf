/** What the document of the service says of errors. */

interface Response {
  readonly description?: string
  readonly content?: Readonly<
    Record<string, { readonly schema: { readonly anyOf?: ReadonlyArray<Record<string, string>> } }>
  >
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Record<string, Response> }>>>
  >
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
}

const ofPlatform = new Set(["HttpApiDecodeError", "Issue", "PropertyKey"])

/** The document without the error that the platform has for a request that its schema does not allow: it is a problem, as all others. */
export const problemsAlone = (document: Record<string, unknown>): Record<string, unknown> => {
  const { paths, components } = document as unknown as Document
  for (const { responses } of Object.values(paths).flatMap((methods) => Object.values(methods))) {
    const { anyOf = [] } = responses["400"]?.content?.["application/json"]?.schema ?? {}
    const problem = anyOf.find(({ $ref }) => $ref === undefined)
    if (problem !== undefined)
      responses["400"] = {
        description: problem["description"] ?? "",
        content: { "application/problem+json": { schema: problem as {} } },
      }
  }
  const schemas = Object.entries(components.schemas).filter(([name]) => !ofPlatform.has(name))
  return { ...document, components: { ...components, schemas: Object.fromEntries(schemas) } }
}
