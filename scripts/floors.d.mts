/** A floor: its packages, by their folders from the root, and which floors it may use. */
export interface Floor {
  readonly name: string
  readonly packages: ReadonlyArray<string>
  readonly uses: ReadonlyArray<string>
  /** The packages that other packages of this floor and of floors above may use. */
  readonly shared: ReadonlyArray<string>
  /** Whether its packages may also use what the floors below do not share. */
  readonly built?: boolean
  /** The only packages that it may have from elsewhere. */
  readonly modules?: ReadonlyArray<string>
  readonly reason: string
}

/** The rules of one package. */
export interface Exception {
  readonly only?: ReadonlyArray<string>
  readonly also?: ReadonlyArray<string>
  readonly modules?: ReadonlyArray<string>
  readonly node?: boolean
  readonly reason?: string
}

/** The floors, from the bottom. */
export declare const floors: ReadonlyArray<Floor>
/** Packages with rules of their own, by their folders. */
export declare const exceptions: Readonly<Record<string, Exception>>
/** The name of the package in a folder. */
export declare const nameOf: (folder: string) => string
/** The name of the floor of a package. */
export declare const floorOf: (packageName: string) => string | undefined
/** Why the package in a folder may not import a module; `null` if it may. */
export declare const refusal: (folder: string, module: string) => string | null
/** The floors as CONTRIBUTING.md shows them. */
export declare const picture: () => string
