/** A part with a fault in it, and the law that has to find it. */
import { examine, type Law, title } from "../../src/index.js"

export interface Mutant {
  readonly name: string
  /** The law that names the fault: its number, or the beginning of its title. */
  readonly law: string
  /** The laws of its kind, made for it. */
  readonly laws: () => ReadonlyArray<Law>
}

/** How a mutant was found: by which law, after how many runs. */
export interface Caught {
  readonly law: string
  readonly runs: number
}

/** Runs the laws it is to break, each at most so often, until one does not hold; `null` if all of them do. */
export const catchMutant = async (
  { law, laws }: Mutant,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<Caught | null> => {
  const names = (one: Law) => (law.includes(":") ? title(one).startsWith(law) : one.id === law)
  for (const one of laws().filter(names)) {
    const verdict = await examine(one, { numRuns: runs, seed })
    if (verdict._tag === "Broken") return { law: title(one), runs: verdict.runs }
  }
  return null
}
