/**
 * What agents and tools put into a conversation besides prose, written (or, where it should be random, generated)
 * for these tests. Each is grouped by the class whose error bound it checks.
 */

/** Random-looking bytes that are the same on every run (a linear congruential generator). */
const bytes = (count: number, seed: number): Uint8Array => {
  const out = new Uint8Array(count)
  let state = seed
  for (let index = 0; index < count; index++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    out[index] = state >>> 24
  }
  return out
}
const hex = (count: number, seed: number): string => Buffer.from(bytes(count, seed)).toString("hex")
const base64 = (count: number, seed: number): string => Buffer.from(bytes(count, seed)).toString("base64")
const uuid = (seed: number): string =>
  hex(16, seed).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
const seeds = Array.from({ length: 12 }, (_, index) => 101 + index * 37)

const orders = seeds.map((seed, index) => ({
  id: `ord_${hex(8, seed)}`,
  customerId: 40_213 + index * 17,
  status: ["paid", "shipped", "cancelled", "refund_pending"][index % 4],
  createdAt: `2025-03-${String(index + 10)}T08:${String(index * 4 + 11)}:27.519Z`,
  total: { currency: "EUR", amount: 1999 + index * 731 },
  items: [
    { sku: `KB-${index + 301}`, quantity: 1 + (index % 3), title: "Mechanical keyboard, brown switches" },
    { sku: `CB-${index + 77}`, quantity: 2, title: "USB-C cable, 1.5 m", discount: null },
  ],
  giftWrap: index % 2 === 0,
}))

/** Source code. */
export const code: Readonly<Record<string, string>> = {
  TypeScript: String.raw`import { readFile } from "node:fs/promises"
import type { Logger } from "./logger.js"

export interface RetryOptions {
  readonly maxAttempts: number
  readonly baseDelayMs: number
  readonly onRetry?: (attempt: number, error: unknown) => void
}

/** Runs an operation until it succeeds or the attempts are used up. */
export async function withRetry<T>(operation: () => Promise<T>, options: RetryOptions): Promise<T> {
  let lastError: unknown
  for (let attempt = 1; attempt <= options.maxAttempts; attempt++) {
    try {
      return await operation()
    } catch (error) {
      lastError = error
      options.onRetry?.(attempt, error)
      if (attempt < options.maxAttempts) {
        await new Promise((resolve) => setTimeout(resolve, options.baseDelayMs * 2 ** (attempt - 1)))
      }
    }
  }
  throw lastError instanceof Error ? lastError : new Error(${"`"}failed after ${"${"}options.maxAttempts} attempts${"`"})
}

const parsePort = (value: string | undefined): number => {
  const port = Number.parseInt(value ?? "8080", 10)
  if (Number.isNaN(port) || port < 1 || port > 65535) throw new RangeError("PORT must be between 1 and 65535")
  return port
}
`,
  Python: String.raw`from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from dataclasses import dataclass, field

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Inventory:
    """Keeps track of how many pieces of each article are in stock."""

    warehouse: str
    _stock: dict[str, int] = field(default_factory=lambda: defaultdict(int))

    def receive(self, sku: str, quantity: int) -> None:
        if quantity <= 0:
            raise ValueError(f"quantity must be positive, got {quantity!r}")
        self._stock[sku] += quantity
        logger.debug("received %d x %s in %s", quantity, sku, self.warehouse)

    def available(self, sku: str, *, reserved: int = 0) -> int:
        return max(0, self._stock.get(sku, 0) - reserved)


async def sync_all(inventories: list[Inventory], client) -> dict[str, int]:
    results = await asyncio.gather(*(client.fetch(inv.warehouse) for inv in inventories), return_exceptions=True)
    totals = {}
    for inv, result in zip(inventories, results):
        if isinstance(result, Exception):
            logger.warning("sync failed for %s: %s", inv.warehouse, result)
            continue
        totals[inv.warehouse] = sum(row["qty"] for row in result if row["qty"] is not None)
    return totals
`,
  Rust: String.raw`use std::collections::HashMap;
use std::io::{self, BufRead};

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Operator(char),
    LeftParen,
    RightParen,
}

fn tokenize(input: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = input.chars().peekable();
    while let Some(&c) = chars.peek() {
        match c {
            ' ' | '\t' => { chars.next(); }
            '0'..='9' | '.' => {
                let mut buf = String::new();
                while let Some(&d) = chars.peek() {
                    if d.is_ascii_digit() || d == '.' { buf.push(d); chars.next(); } else { break; }
                }
                tokens.push(Token::Number(buf.parse().map_err(|e| format!("bad number {buf}: {e}"))?));
            }
            '+' | '-' | '*' | '/' => { tokens.push(Token::Operator(c)); chars.next(); }
            '(' => { tokens.push(Token::LeftParen); chars.next(); }
            ')' => { tokens.push(Token::RightParen); chars.next(); }
            other => return Err(format!("unexpected character {:?}", other)),
        }
    }
    Ok(tokens)
}

fn main() -> io::Result<()> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in io::stdin().lock().lines() {
        *counts.entry(line?.trim().to_owned()).or_insert(0) += 1;
    }
    println!("{counts:#?}");
    Ok(())
}
`,
  "HTML and CSS": String.raw`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Order overview</title>
    <style>
      .card { display: flex; gap: 0.75rem; padding: 12px 16px; border: 1px solid #d0d7de; border-radius: 8px; }
      .card > h2 { margin: 0; font: 600 1.1rem/1.4 system-ui, sans-serif; color: #1f2328; }
      @media (max-width: 640px) { .card { flex-direction: column; } }
    </style>
  </head>
  <body>
    <main id="orders" data-page="1">
      <article class="card"><h2>Order 4711</h2><p>Two items, <a href="/orders/4711?tab=items">see details</a></p></article>
      <button type="button" aria-label="Load more orders" onclick="loadMore()">More</button>
    </main>
    <script type="module" src="/assets/app.js"></script>
  </body>
</html>
`,
  SQL: String.raw`CREATE TABLE IF NOT EXISTS events (
  session_id TEXT NOT NULL,
  sequence   INTEGER NOT NULL CHECK (sequence > 0),
  kind       TEXT NOT NULL,
  payload    TEXT NOT NULL,
  created_at INTEGER NOT NULL DEFAULT (unixepoch() * 1000),
  PRIMARY KEY (session_id, sequence)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX one_active_summary ON summaries (session_id) WHERE superseded_by IS NULL;

SELECT c.name, COUNT(o.id) AS orders, COALESCE(SUM(o.total_cents), 0) / 100.0 AS revenue
FROM customers AS c
LEFT JOIN orders AS o ON o.customer_id = c.id AND o.status <> 'cancelled'
WHERE c.created_at >= '2024-01-01' AND c.country IN ('AT', 'DE', 'CH')
GROUP BY c.id
HAVING COUNT(o.id) > 3
ORDER BY revenue DESC
LIMIT 25 OFFSET 50;
`,
  diff: String.raw`diff --git a/src/server/session.ts b/src/server/session.ts
index 3f1c2ab..9d04e77 100644
--- a/src/server/session.ts
+++ b/src/server/session.ts
@@ -41,9 +41,12 @@ export class SessionStore {
   async load(id: string): Promise<Session | undefined> {
-    const row = await this.db.get("select * from sessions where id = ?", id)
-    return row ? JSON.parse(row.data) : undefined
+    const row = await this.db.get("select data, version from sessions where id = ?", id)
+    if (row === undefined) return undefined
+    const data = JSON.parse(row.data)
+    return row.version < CURRENT_VERSION ? this.migrate(data, row.version) : data
   }
 
   async save(session: Session): Promise<void> {
`,
}

/** JSON as APIs and tools give it. */
export const json: Readonly<Record<string, string>> = {
  "JSON, indented": JSON.stringify(orders.slice(0, 5), null, 2),
  "JSON, compact": JSON.stringify(orders),
  "JSON in a JSON string": JSON.stringify({
    arguments: JSON.stringify({ orders: orders.slice(0, 4), dryRun: true }),
  }),
  "tool arguments": JSON.stringify({
    user_id: "mia_lindqvist_4821",
    origin: "SFO",
    destination: "BOS",
    flight_type: "round_trip",
    cabin: "economy",
    flights: [
      { flight_number: "HAT136", date: "2025-05-21" },
      { flight_number: "HAT039", date: "2025-05-27" },
    ],
    passengers: [{ first_name: "Mia", last_name: "Lindqvist", dob: "1990-04-05" }],
    payment_methods: [{ payment_id: "certificate_7504069", amount: 250 }],
    total_baggages: 1,
    insurance: "no",
  }),
}

/** What commands print, logs, and other output in lines. */
export const output: Readonly<Record<string, string>> = {
  "shell session": String.raw`$ ls -la
total 148
drwxr-xr-x  9 dev  staff    288 Mar 14 09:12 .
drwxr-xr-x 31 dev  staff    992 Mar 13 17:40 ..
-rw-r--r--  1 dev  staff    214 Mar 14 09:02 .gitignore
-rw-r--r--  1 dev  staff   1287 Mar 14 09:11 package.json
-rw-r--r--  1 dev  staff  98311 Mar 14 09:11 pnpm-lock.yaml
drwxr-xr-x  6 dev  staff    192 Mar 14 08:58 src
$ git status --short
 M src/index.ts
?? src/retry.test.ts
$ docker ps --format '{{.Names}}\t{{.Status}}'
api-gateway	Up 3 hours (healthy)
postgres-16	Up 3 hours
redis	Restarting (1) 12 seconds ago
$ curl -s -o /dev/null -w '%{http_code} %{time_total}\n' http://localhost:8080/health
200 0.004218
`,
  "test run": String.raw` RUN  v3.2.1 /home/dev/projects/shop

 ✓ src/price.test.ts (14 tests) 21ms
 ✓ src/cart.test.ts (32 tests) 118ms
 ❯ src/checkout.test.ts (9 tests | 1 failed) 342ms
   ✓ applies the voucher before the tax
   ✗ refuses an expired card 57ms
     → expected 'declined' to be 'expired' // Object.is equality

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  src/checkout.test.ts > checkout > refuses an expired card
AssertionError: expected 'declined' to be 'expired' // Object.is equality

Expected: "expired"
Received: "declined"

 ❯ src/checkout.test.ts:88:31
     86|   const result = await checkout(cart, { card: expiredCard })
     87|
     88|   expect(result.reason).toBe("expired")
       |                         ^

 Test Files  1 failed | 2 passed (3)
      Tests  1 failed | 54 passed (55)
   Duration  1.92s (transform 210ms, setup 0ms, collect 655ms, tests 481ms)
`,
  "stack trace": String.raw`Traceback (most recent call last):
  File "/srv/app/.venv/lib/python3.12/site-packages/urllib3/connectionpool.py", line 787, in urlopen
    response = self._make_request(conn, method, url, timeout=timeout_obj, body=body, headers=headers)
  File "/srv/app/.venv/lib/python3.12/site-packages/urllib3/connection.py", line 205, in _new_conn
    raise NewConnectionError(self, f"Failed to establish a new connection: {e}") from e
urllib3.exceptions.NewConnectionError: <urllib3.connection.HTTPSConnection object at 0x7f3a1c2b9d50>: Failed to establish a new connection: [Errno 111] Connection refused

TypeError: Cannot read properties of undefined (reading 'customerId')
    at OrderService.findOpen (file:///srv/app/dist/services/order-service.js:142:37)
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)
    at async handler (file:///srv/app/dist/routes/orders.js:58:20)
`,
  "server log": seeds
    .map(
      (seed, index) =>
        `2025-03-14T09:${index + 20}:0${index % 10}.${100 + index * 61}Z ${["INFO", "WARN", "DEBUG", "ERROR"][index % 4]} [worker-${index % 5}] request_id=${hex(6, seed)} method=GET path=/api/v2/orders/${4711 + index * 13} status=${[200, 404, 200, 503][index % 4]} duration_ms=${(index * 37) % 290}.${index}`,
    )
    .join("\n"),
  "markdown table": `| Package | Version | Weekly downloads | License | Last release |
| --- | ---: | ---: | :---: | --- |
| fast-router | 4.2.1 | 1,284,903 | MIT | 2025-02-11 |
| tiny-queue | 0.9.14 | 48,120 | Apache-2.0 | 2024-11-30 |
| schema-kit | 12.0.0 | 9,300,417 | ISC | 2025-03-02 |
| left-align | 1.0.3 | 512 | BSD-3-Clause | 2019-06-18 |
| date-span | 3.7.0 | 220,655 | MIT | 2025-01-09 |

## How to read it

- **Version** is the newest tag on the \`main\` branch.
- Numbers are rounded to full downloads; see [the method](./docs/method.md#counting).

1. Install the package with \`npm install fast-router\`.
2. Run \`npx fast-router init --template basic\` in an empty folder.
`,
  YAML: String.raw`name: ci
on:
  push:
    branches: [main]
  pull_request:
jobs:
  test:
    runs-on: ubuntu-24.04
    strategy:
      fail-fast: false
      matrix:
        node: [20, 22, 24]
    services:
      redis:
        image: redis:7-alpine
        ports: ["6379:6379"]
        options: >-
          --health-cmd "redis-cli ping"
          --health-interval 5s
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with:
          node-version: ${"${{ matrix.node }}"}
          cache: pnpm
      - run: pnpm install --frozen-lockfile
      - run: pnpm test -- --coverage
        env:
          REDIS_URL: redis://localhost:6379/0
`,
  CSV: [
    "station,date,temp_min,temp_max,rain_mm,wind_kmh,remark",
    ...seeds.map((seed, index) => {
      const [a = 0, b = 0, c = 0, d = 0] = bytes(4, seed)
      return `AT-${1000 + index * 7},2025-0${1 + (index % 9)}-1${index % 10},${(a / 20 - 5).toFixed(1)},${(b / 10 + 4).toFixed(1)},${(c / 9).toFixed(2)},${d % 80},${index % 3 === 0 ? "gusts" : ""}`
    }),
  ].join("\n"),
}

/** What no vocabulary has words for. */
export const opaque: Readonly<Record<string, string>> = {
  URLs: [
    "https://example.com/products/mechanical-keyboards?color=black&layout=iso-de&page=3&sort=price_asc",
    "https://api.example.org/v1/projects/8812/pipelines/99321/jobs?scope[]=failed&per_page=100",
    "https://docs.example.net/en/latest/getting-started/installation.html#from-source",
    "http://localhost:3000/auth/callback?code=4%2F0AeanS0b&state=xyz123&scope=email%20profile%20openid",
    "https://cdn.example.com/assets/img/2024/11/hero-banner@2x.webp",
    "https://github.com/example/shop/blob/main/packages/core/src/index.ts#L120-L148",
  ].join("\n"),
  UUIDs: seeds.map(uuid).join("\n"),
  "hex digests": seeds
    .slice(0, 6)
    .map((seed) => hex(32, seed))
    .join("\n"),
  base64: base64(600, 7),
  "data URI": `data:image/png;base64,${base64(450, 99)}`,
  "JSON web token": ["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", base64(120, 5), base64(32, 6)]
    .map((part) => part.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_"))
    .join("."),
  emoji: "Party at 8 🎉🎉 bring 🍕 and 🥤! See you 😀👍🏽 ❤️ 👨‍👩‍👧‍👦 🇦🇹🇩🇪 ☀️⛅🌧️ ✅ done, ❌ not yet 🚀🚀🚀 🤷‍♀️",
  "box drawing": `┌──────────────┬────────┐
│ name         │ tokens │
├──────────────┼────────┤
│ pinned       │     12 │
│ summary      │    340 │
│ raw messages │   1204 │
└──────────────┴────────┘
src
├── event
│   ├── Event.ts
│   └── upcast.ts
└── log
    └── EventLog.ts
`,
  mathematics:
    "∀ε>0 ∃δ>0: |x−a|<δ ⇒ |f(x)−f(a)|<ε; ∑ᵢ₌₁ⁿ i² = n(n+1)(2n+1)/6, ∫₀^∞ e^(−x²) dx = √π/2, α≠β ∧ γ≤½ → λ∈ℝ",
}
