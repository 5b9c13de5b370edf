/** Rerankers, as users of the package see them. */
export { Reranker, type Service } from "./recall/Reranker.js"
