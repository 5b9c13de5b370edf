/** Files in `data:` addresses, as `uri` of a file part has them. */

const base64Prefix = (mediaType: string): string => `data:${mediaType};base64,`
const textPrefix = "data:text/plain;charset=utf-8,"

/** Half of an emoji, or a stray percent sign on the way back, cannot be written in a URI. */
const attempt = (convert: (text: string) => string, text: string): string | undefined => {
  try {
    return convert(text)
  } catch {
    return undefined
  }
}

/** Whether a text is an address of any kind, `data:` among them, and no base64. */
export const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]*:/i.test(text)

/** The address with a file in base64. */
export const base64Uri = (mediaType: string, data: string): string => base64Prefix(mediaType) + data

/** The base64 of an address that says this media type; `undefined` for any other address. */
export const base64In = (uri: string, mediaType: string): string | undefined => {
  const prefix = base64Prefix(mediaType)
  return uri.startsWith(prefix) ? uri.slice(prefix.length) : undefined
}

/** The media type that a `data:` address says. */
export const mediaTypeIn = (uri: string): string | undefined => /^data:([^;,]+)[;,]/.exec(uri)?.[1]

/** The address with a plain text; `undefined` for a text that no address can have. */
export const textUri = (text: string): string | undefined => {
  const encoded = attempt(encodeURIComponent, text)
  return encoded === undefined ? undefined : textPrefix + encoded
}

/** The plain text in an address of {@link textUri}; `undefined` for any other address. */
export const textInUri = (uri: string): string | undefined =>
  uri.startsWith(textPrefix) ? attempt(decodeURIComponent, uri.slice(textPrefix.length)) : undefined
