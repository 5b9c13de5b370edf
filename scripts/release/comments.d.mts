export declare const withoutComments: (text: string) => string
