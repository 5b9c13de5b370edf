/** The parts that an environment variable names; all parts without it. An unknown name is an error. */
export const chosen = <A>(
  kind: string,
  all: ReadonlyMap<string, A>,
  names: string | undefined,
): ReadonlyArray<readonly [string, A]> => {
  if (names === undefined || names.trim() === "") return [...all]
  return names.split(",").map((text) => {
    const name = text.trim()
    const found = all.get(name)
    if (found === undefined) {
      throw new TypeError(`there is no ${kind} "${name}"; there are: ${[...all.keys()].join(", ")}`)
    }
    return [name, found]
  })
}
