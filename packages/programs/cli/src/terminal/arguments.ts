/** The arguments of a call, in the form that the parser takes. */

/** An option with its value behind an equals sign. */
const joined = /^(--[a-z][a-z0-9-]*)=(.*)$/s

/**
 * Separates `--name=value` into two arguments, up to a `--`: the parser refuses the joined form for an option that may be repeated.
 *
 * @param args the arguments as they were typed
 */
export const separated = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.includes("--") ? args.indexOf("--") : args.length
  return [...args.slice(0, end).flatMap((arg) => joined.exec(arg)?.slice(1) ?? [arg]), ...args.slice(end)]
}
