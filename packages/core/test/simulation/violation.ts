import type { Finding } from "@memfold/testing/oracle"

/** The end of a run that broke a law. */
export class Violation extends Error {
  constructor(
    /** A law of the design by its number, or what else went wrong: `liveness` is something that never ended. */
    readonly law: string,
    readonly detail: string,
    /** What was found and what was expected, printed when the run is replayed. */
    readonly evidence?: unknown,
  ) {
    super(`${law}: ${detail}`)
    this.name = "Violation"
  }
}

/** Ends the run unless something holds. Texts are made only when they are needed. */
export const must = (holds: boolean, law: string, detail: () => string, evidence?: () => unknown): void => {
  if (!holds) throw new Violation(law, detail(), evidence?.())
}

/** Ends the run with a finding of the naive model, if there is one. */
export const failOn = (
  finding: Finding | null | undefined,
  where: () => string,
  evidence?: () => unknown,
): void => {
  if (finding) throw new Violation(finding.law, `${where()}: ${finding.detail}`, evidence?.())
}
