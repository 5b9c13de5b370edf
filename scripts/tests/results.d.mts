/** A test file. */
export interface TestFile {
  /** Its path from the root of the repository. */
  readonly file: string
  readonly group: string
  /** The files that its result depends on. */
  readonly inputs: ReadonlySet<string>
}

export declare const testFiles: () => ReadonlyArray<TestFile>
