/**
 * Loaded before a block of a page: requests to the providers and to the service of memfold go to the local servers of
 * `MEMFOLD_PROVIDERS` and `MEMFOLD_SERVICE`, and nothing leaves the machine.
 */
const { fetch } = globalThis
const { MEMFOLD_PROVIDERS: providers, MEMFOLD_SERVICE: service } = process.env
const local = new Map([
  ["https://api.openai.com", providers],
  ["https://api.anthropic.com", providers],
  ["http://127.0.0.1:4710", service],
])

globalThis.fetch = (input, options) => {
  const url = new URL(input instanceof Request ? input.url : String(input))
  const to = local.get(url.origin)
  if (to === undefined) throw new Error(`a block of a page asks for ${url.origin}`)
  const target = new URL(`${url.pathname}${url.search}`, to)
  return input instanceof Request ? fetch(new Request(target, input), options) : fetch(target, options)
}
