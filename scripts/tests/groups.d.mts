/** A group of tests. */
export interface Group {
  readonly name: string
  /** What the tests of the group have in common. */
  readonly about: string
  /** Whether `npm test` runs it without `--all`. */
  readonly quick: boolean
  /** Globs from the root of the repository. */
  readonly files: Array<string>
}

export declare const groups: ReadonlyArray<Group>
export declare const noTests: Array<string>
export declare const ofTranscripts: Array<string>
export declare const groupOf: (file: string) => string | undefined
