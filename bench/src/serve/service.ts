/** The service as a process: `service.js STORE` prints its address. */
import { serve } from "@memfold/server"

const [store = "memory:"] = process.argv.slice(2)
const { url } = await serve({ store: store as "memory:", port: 0, log: "error" })
console.log(url)
