/** What the thread with the model is told, and what it answers. */

/** What is loaded. */
export interface Loading {
  /** The path of a folder, or the id of a model of the hub. */
  readonly model: string
  readonly isFolder: boolean
  readonly dtype: string
  readonly pooling: string
  readonly cacheFolder: string | undefined
}

/** Texts to embed. */
export interface Asked {
  readonly id: number
  readonly texts: ReadonlyArray<string>
}

/** An answer of the thread. */
export type Answer =
  | { readonly type: "ready"; readonly dimensions: number }
  | { readonly type: "unusable"; readonly detail: string }
  | { readonly type: "vectors"; readonly id: number; readonly numbers: Float32Array }
  | { readonly type: "failed"; readonly id: number }
