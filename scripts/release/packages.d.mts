/** What a `package.json` has. */
export interface Manifest {
  readonly name: string
  readonly [field: string]: any
}
export declare const packages: ReadonlyArray<{ readonly folder: string; readonly manifest: Manifest }>
export declare const readme: (folder: string) => {
  readonly install: ReadonlyArray<string>
  readonly code: string | undefined
}
