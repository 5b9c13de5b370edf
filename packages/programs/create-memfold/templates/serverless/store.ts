/** Where sessions are, and how the worker hears of them: your database, or files of this folder. */
import type { QueueUrl, StoreUrl } from "memfold"
import { localQueue } from "./localQueue.js"

const { DATABASE_URL } = process.env

export const store = (DATABASE_URL ?? "sqlite:chats.db") as StoreUrl

export const queue = DATABASE_URL === undefined ? localQueue : (DATABASE_URL as QueueUrl)
