/** Full-text search: the terms of texts and queries in any language, and how well they fit (BM25). */
export { termScore, termWeight } from "./search/bm25.js"
export type { TermPostings } from "./search/postings.js"
export { queryTermsOf, termsOf, termsVersion } from "./search/terms.js"
