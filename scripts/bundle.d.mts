interface Options {
  readonly outDir: string
  /** Vite's. */
  readonly plugins?: ReadonlyArray<object>
  /** Where the packages are that stay outside, as URLs. */
  readonly external?: Readonly<Record<string, string>>
}

/** Makes `outDir/NAME.mjs` of each module. Answers with the path of a program by its name. */
export declare const bundleAll: <Name extends string>(
  modules: Readonly<Record<Name, string>>,
  options: Options,
) => Promise<(name: Name) => string>

/** Makes `outDir/NAME.mjs` of a module. Answers with the path of the program. */
export declare const bundle: (entry: string, options: Options & { readonly name: string }) => Promise<string>
