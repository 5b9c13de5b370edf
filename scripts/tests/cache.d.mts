export declare const cacheFolder: (name: string) => string
