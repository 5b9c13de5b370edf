/** Secrets of many kinds, made by their form when the test runs: none of them is or was one, and none stands in a file of this repository. */

const alphabets = {
  digits: "0123456789",
  hex: "0123456789abcdef",
  upper: "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
  letters: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
  word: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
}

/** A generator of numbers below 2^32 from a seed. */
const generator = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  return seed
}

/** A secret: its kind for the guard, how it stands in a text, and the piece that must not be stored. */
export interface Planted {
  readonly name: string
  readonly kind: string
  readonly text: string
  readonly secret: string
}

const luhn = (digits: string): string => {
  const sum = [...digits].reduceRight((before, digit, at) => {
    const doubled = (digits.length - 1 - at) % 2 === 0
    const value = Number(digit) * (doubled ? 2 : 1)
    return before + (value > 9 ? value - 9 : value)
  }, 0)
  return `${digits}${(10 - (sum % 10)) % 10}`
}

const iban = (country: string, account: string): string => {
  const moved = [...`${account}${country}00`].map((one) => Number.parseInt(one, 36)).join("")
  return `${country}${String(98n - (BigInt(moved) % 97n)).padStart(2, "0")}${account}`
}

/** One of each kind. */
export const planted = (seed: number): ReadonlyArray<Planted> => {
  const next = generator(seed)
  const some = (alphabet: keyof typeof alphabets, length: number): string =>
    Array.from({ length }, () => alphabets[alphabet][(next() % 65_537) % alphabets[alphabet].length]).join("")
  const plain = (name: string, kind: string, secret: string, before = "use "): Planted => ({
    name,
    kind,
    text: `${before}${secret}`,
    secret,
  })
  const base64 = (text: string) => Buffer.from(text).toString("base64")
  const pem = (label: string, start: string): string => {
    const body = `${start}${some("word", 400)}`.match(/.{1,64}/g)!.join("\n")
    return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----`
  }
  // Its JSON ends with a byte of its own.
  const account = [12, 13, 14]
    .map((length) =>
      base64(
        JSON.stringify({
          email: some("letters", length),
          secretKey: some("upper", 40),
          srpX: some("hex", 64),
        }),
      ),
    )
    .find((one) => one.endsWith("fQ=="))!
  const url = (scheme: string) => `${scheme}://admin:${some("word", 20)}@db.internal.net:5432/shop`
  return [
    plain("AWS access key id", "aws", `AKIA${some("upper", 16)}`),
    plain("AWS session key id", "aws", `ASIA${some("upper", 16)}`),
    plain("AWS secret key", "aws", some("word", 40), "AWS_SECRET_ACCESS_KEY="),
    plain("GitHub personal token", "github", `ghp_${some("word", 36)}`),
    plain("GitHub OAuth token", "github", `gho_${some("word", 36)}`),
    plain("GitHub user token", "github", `ghu_${some("word", 36)}`),
    plain("GitHub server token", "github", `ghs_${some("word", 36)}`),
    plain("GitHub refresh token", "github", `ghr_${some("word", 36)}`),
    plain("GitHub fine-grained token", "github", `github_pat_${some("word", 82)}`),
    plain("npm token", "npm", `npm_${some("word", 36)}`),
    plain("npmrc token", "npm", some("hex", 36), "//registry.internal.net/:_authToken="),
    plain("Slack bot token", "slack", `xoxb-${some("digits", 12)}-${some("digits", 12)}-${some("word", 24)}`),
    plain(
      "Slack user token",
      "slack",
      `xoxp-${some("digits", 12)}-${some("digits", 12)}-${some("word", 24)}`,
    ),
    plain(
      "Slack webhook",
      "slack",
      `https://hooks.slack.com/services/T${some("upper", 8)}/B${some("upper", 8)}/${some("word", 24)}`,
    ),
    plain("SendGrid key", "sendgrid", `SG.${some("word", 22)}.${some("word", 43)}`),
    plain("Shopify private app token", "shopify", `shppa_${some("hex", 32)}`),
    plain("Shopify access token", "shopify", `shpat_${some("hex", 32)}`),
    plain("OpenAI project key", "openai", `sk-proj-${some("word", 74)}T3BlbkFJ${some("word", 74)}`),
    plain("OpenAI user key", "openai", `sk-${some("word", 20)}T3BlbkFJ${some("word", 20)}`),
    plain("Anthropic key", "anthropic", `sk-ant-api03-${some("word", 93)}AA`),
    plain("Linear key", "linear", `lin_api_${some("word", 40)}`),
    plain("1Password account", "1password", `ops_${account}`),
    plain("PostgreSQL address", "database-connection-string", url("postgres")),
    plain("MySQL address", "database-connection-string", url("mysql")),
    plain("MongoDB address", "database-connection-string", url("mongodb+srv")),
    plain("basic auth", "basicauth", `https://deploy:${some("word", 24)}@git.internal.net`),
    plain("RSA key", "privatekey", pem("RSA PRIVATE KEY", "MIIEpAIBAAKCAQEA")),
    plain("OpenSSH key", "privatekey", pem("OPENSSH PRIVATE KEY", "b3BlbnNzaC1rZXktdjEAAAAA")),
    plain("PKCS8 key", "privatekey", pem("PRIVATE KEY", "MIIEvQIBADANBgkqhkiG")),
    plain("encrypted key", "privatekey", pem("ENCRYPTED PRIVATE KEY", "MIIFHDBOBgkqhkiG")),
    plain("Google key", "google", `AIza${some("word", 35)}`),
    plain("Stripe key", "stripe", `sk_${"live"}_${some("word", 24)}`),
    plain("GitLab token", "gitlab", `glpat-${some("word", 20)}`),
    plain("Hugging Face token", "huggingface", `hf_${some("letters", 34)}`),
    plain(
      "JSON web token",
      "jwt",
      `ey${"J"}${some("word", 30)}.ey${"J"}${some("word", 60)}.${some("word", 43)}`,
    ),
    plain("card", "card", luhn(`4${some("digits", 14)}`).replaceAll(/(.{4})(?=.)/g, "$1 "), "my card is "),
    plain("card in one piece", "card", luhn(`51${some("digits", 13)}`), "card number: "),
    plain(
      "American Express card",
      "card",
      luhn(`37${some("digits", 12)}`).replace(/(.{4})(.{6})/, "$1-$2-"),
      "pay with ",
    ),
    plain("German account", "iban", iban("DE", some("digits", 18)), "IBAN "),
    plain(
      "Dutch account",
      "iban",
      iban("NL", `INGB${some("digits", 10)}`).replaceAll(/(.{4})(?=.)/g, "$1 "),
      "to ",
    ),
  ]
}

/** The secrets that stand in bytes, plain or escaped as JSON has them once, twice and three times. */
export const foundIn = (bytes: string, secrets: ReadonlyArray<Planted>): ReadonlyArray<string> =>
  secrets
    .filter(({ secret }) => {
      let form = secret
      for (let times = 0; times < 4; times++) {
        if (bytes.includes(form)) return true
        form = JSON.stringify(form).slice(1, -1)
      }
      return false
    })
    .map(({ name }) => name)
