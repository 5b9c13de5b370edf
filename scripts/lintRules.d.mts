/** The folders of the sources of `@memfold/core`, in the order in which they are read. */
export declare const coreFolders: ReadonlyArray<string>
