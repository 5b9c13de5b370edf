export * as ExtractiveSummarizer from "./ExtractiveSummarizer.js"
