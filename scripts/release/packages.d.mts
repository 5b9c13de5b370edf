/** What the tests read of a `package.json`. */
export interface Manifest {
  readonly name: string
  readonly main?: unknown
  readonly module?: unknown
  readonly types?: unknown
  readonly bugs?: unknown
  readonly sideEffects?: unknown
  readonly files: ReadonlyArray<string>
  readonly exports: Readonly<Record<string, unknown>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
export declare const packages: ReadonlyArray<{ readonly folder: string; readonly manifest: Manifest }>
export declare const readme: (folder: string) => {
  readonly install: ReadonlyArray<string>
  readonly code: string | undefined
}
