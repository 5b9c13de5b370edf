/** The files of the repository, and what each of them rests on. */
export interface Inputs {
  /** Paths from the root of the repository. */
  readonly files: ReadonlyArray<string>
  /** The files that a file rests on, itself included. */
  readonly of: (file: string) => ReadonlySet<string>
}

export declare const makeInputs: () => Inputs
