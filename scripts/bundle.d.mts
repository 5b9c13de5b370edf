/** Makes `outDir/NAME.mjs` of a module; `plugins` are Vite's. Answers with the path of the program. */
export declare const bundle: (
  entry: string,
  options: { readonly outDir: string; readonly name: string; readonly plugins?: ReadonlyArray<object> },
) => Promise<string>
