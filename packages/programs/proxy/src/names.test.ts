import { describe, expect, it } from "vitest"
import { sessionOf } from "./names.js"

describe("the session of a request", () => {
  it.each([
    [{ "x-session-id": "a" }, { prompt_cache_key: "c" }, "a", false],
    [{ "x-session-id": "a", "x-session-affinity": "b" }, { prompt_cache_key: "c" }, "a", true],
    [{ "x-session-affinity": "b" }, { prompt_cache_key: "c" }, "b", true],
    [{ "x-litellm-session-id": "l" }, {}, "l", false],
    [{ "helicone-session-id": "h" }, {}, "h", false],
    [{ "x-sm-conversation-id": "s" }, {}, "s", false],
    [{ session_id: "codex" }, { prompt_cache_key: "c" }, "codex", true],
    [{}, { metadata: { session_id: "m" }, prompt_cache_key: "c" }, "m", false],
    [{}, { conversation: "conv_1" }, "conv_1", false],
    [{}, { conversation: { id: "conv_2" } }, "conv_2", false],
    [{}, { metadata: { user_id: "user_12_account__session_0f9c2a54-6b1e" } }, "0f9c2a54-6b1e", true],
    [{}, { metadata: { user_id: '{"device_id":"d","session_id":"s-1"}' } }, "s-1", true],
  ])("%j %j is %s", (headers, body, session, sendsAll) => {
    expect(sessionOf(headers, body)).toMatchObject({ session, sendsAll })
  })

  it.each([
    [{ "x-session-id": "a", "x-session-affinity": "a" }, {}, true],
    [{ "x-session-id": "a" }, {}, false],
    [{ session_id: "a" }, {}, true],
    [{}, { metadata: { user_id: '{"session_id":"s-1"}' } }, true],
    [{}, { metadata: { session_id: "m" } }, false],
  ])("%j %j comes from an agent: %s", (headers, body, isAgent) => {
    expect(sessionOf(headers, body)?.isAgent).toBe(isAgent)
  })

  it.each([
    [{}, {}],
    [{ "x-session-id": "  " }, {}],
    // A user has many conversations.
    [{}, { metadata: { user_id: "ann" }, user: "ann" }],
    [{}, { metadata: { user_id: "{broken" }, prompt_cache_key: 7 }],
    // What many share by its purpose.
    [{}, { prompt_cache_key: "c" }],
    [{}, { prompt_cache_key: "c", input: [] }],
    [
      {},
      { safety_identifier: "ann", service_tier: "auto", metadata: { project: "p", user_id: "_session_" } },
    ],
    [{}, { metadata: { user_id: `${"_session_".repeat(100_000)}!` } }],
    [{}, { metadata: null, conversation: [] }],
  ])("%j %j names none", (headers, body) => {
    expect(sessionOf(headers, body)).toBeNull()
  })
})
