/** The tests of one group in one package. */
export interface Task {
  /** Turbo's name of the task, `PACKAGE#test:GROUP`. */
  readonly key: string
  /** The folder of the package. */
  readonly place: string
  readonly group: string
  readonly tests: ReadonlyArray<string>
  /** The files that the tests rest on. */
  readonly inputs: ReadonlySet<string>
}

export declare const makeTasks: () => ReadonlyArray<Task>
export declare const writeTasks: (tasks: ReadonlyArray<Task>, file: string) => void
export declare const countsFile: (group: string) => string
