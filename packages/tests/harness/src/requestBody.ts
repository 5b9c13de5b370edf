const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** The body of a request: a JSON object with a list of objects under a name; `null` if it is anything else. */
export const requestBody = (text: string, list: string): Record<string, unknown> | null => {
  try {
    const body: unknown = JSON.parse(text)
    if (!isObject(body)) return null
    const items = body[list]
    return Array.isArray(items) && items.every(isObject) ? body : null
  } catch {
    return null
  }
}
