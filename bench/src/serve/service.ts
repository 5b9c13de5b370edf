/** The service as a process: `service.js STORE UPSTREAM PORT` prints its address. */
import { serve } from "@memfold/server"

const [store = "memory:", upstream = "", port = "0"] = process.argv.slice(2)
const { url } = await serve({ store: store as "memory:", upstream, port: Number(port), log: "error" })
console.log(url)
